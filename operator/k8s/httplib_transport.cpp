// The one file that includes httplib.h. What it does about the habits of 0.11.4: every timeout is set, a guard watches
// the whole exchange (the library's own timeouts are per read, and its stop() waits for a connect), TCP_NODELAY and
// keep-alive are on, bodies are counted, system CAs are never loaded.
#include <algorithm>
#include <cctype>
#include <mutex>
#include <vector>

#include <fmt/format.h>
#include <httplib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "k8s/connection_guard.hpp"
#include "k8s/errc.hpp"
#include "k8s/transport.hpp"

namespace braidmq::k8s {
namespace {

// Shorter than the idle timeouts of servers and of what stands before them.
constexpr io::duration max_idle = std::chrono::seconds(30);

void set_socket_options(int socket) {
  const auto set = [&](int level, int name, int value) { ::setsockopt(socket, level, name, &value, sizeof value); };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 60'000);
}

// httplib takes the CA bundle as a path, and without one it trusts the system's CAs, which have no business here. A
// file in memory makes what is loaded what was read, whatever happens to the mounted one.
class memory_file {
 public:
  explicit memory_file(const std::string& content) : descriptor_(::memfd_create("ca", MFD_CLOEXEC)) {
    std::string_view rest = content;
    while (descriptor_ >= 0 && !rest.empty()) {
      const auto written = ::write(descriptor_, rest.data(), rest.size());
      if (written <= 0) break;
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  ~memory_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  memory_file(const memory_file&) = delete;
  memory_file& operator=(const memory_file&) = delete;

  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  int descriptor_;
};

// A certificate with its chain, and its key.
bool use_client_certificate(SSL_CTX* context, const client_config& config) {
  BIO* source =
      BIO_new_mem_buf(config.client_certificate_pem.data(), static_cast<int>(config.client_certificate_pem.size()));
  bool good = false;
  if (X509* leaf = PEM_read_bio_X509(source, nullptr, nullptr, nullptr)) {
    good = SSL_CTX_use_certificate(context, leaf) == 1;
    X509_free(leaf);
  }
  while (X509* issuer = good ? PEM_read_bio_X509(source, nullptr, nullptr, nullptr) : nullptr) {
    if (SSL_CTX_add_extra_chain_cert(context, issuer) != 1) X509_free(issuer);  // else it belongs to the context
  }
  BIO_free(source);
  source = BIO_new_mem_buf(config.client_key_pem.data(), static_cast<int>(config.client_key_pem.size()));
  EVP_PKEY* key = PEM_read_bio_PrivateKey(source, nullptr, nullptr, nullptr);
  good = good && key != nullptr && SSL_CTX_use_PrivateKey(context, key) == 1;
  EVP_PKEY_free(key);
  BIO_free(source);
  ERR_clear_error();  // the end of the chain is told as an error
  return good;
}

// OpenSSL's own check of the name, beside httplib's, which also accepts a common name.
void check_name(SSL_CTX* context, const std::string& host) {
  X509_VERIFY_PARAM* checks = SSL_CTX_get0_param(context);
  if (X509_VERIFY_PARAM_set1_ip_asc(checks, host.c_str()) == 1) return;
  X509_VERIFY_PARAM_set_hostflags(checks, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  X509_VERIFY_PARAM_set1_host(checks, host.c_str(), host.size());
}

struct connection {
  guarded_socket socket;  // before the client: its destructor still writes to it
  std::shared_ptr<const trust_bundle> trust;
  std::unique_ptr<memory_file> ca;
  httplib::SSLClient* tls = nullptr;  // the same object as `http`, when it is one
  std::unique_ptr<httplib::ClientImpl> http;
  io::time_point idle_since;
  bool is_new = true;
};

std::string host_header(const client_config& config) {
  const bool is_v6 = config.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", config.host, is_v6 ? "]" : "", config.port);
}

void read_head(const httplib::Response& from, http_response& to) {
  to.status = from.status;
  for (const auto& [name, value] : from.headers) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    to.headers.emplace(std::move(lower), value);
  }
}

class httplib_transport final : public transport {
 public:
  httplib_transport(const client_config& config, credentials& secrets, const io::clock& clock,
                    const transport_options& options)
      : config_(config), secrets_(secrets), clock_(clock), options_(options), host_(host_header(config)) {}

  http_exchange send(const http_request& request, const body_sink& sink) override;

 private:
  result<std::unique_ptr<connection>> connect();
  result<std::unique_ptr<connection>> take(const http_request& request);
  void give_back(std::unique_ptr<connection> used);
  error explain(httplib::Error code, const connection& used, const connection_guard::watched& watch, bool& sent) const;

  const client_config config_;
  credentials& secrets_;
  const io::clock& clock_;
  const transport_options options_;
  const std::string host_;
  connection_guard guard_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<connection>> idle_;  // the latest used last
};

result<std::unique_ptr<connection>> httplib_transport::connect() {
  auto made = std::make_unique<connection>();
  made->trust = secrets_.trust();
  if (config_.tls) {
    made->ca = std::make_unique<memory_file>(made->trust->pem);
    auto client = std::make_unique<httplib::SSLClient>(config_.host, config_.port);
    if (!client->is_valid()) return fail(errc::tls, "no TLS context");
    SSL_CTX_set_min_proto_version(client->ssl_context(), TLS1_2_VERSION);
    check_name(client->ssl_context(), config_.host);
    if (!config_.client_certificate_pem.empty() && !use_client_certificate(client->ssl_context(), config_)) {
      return fail(errc::config, "the client certificate and its key cannot be used");
    }
    client->set_ca_cert_path(made->ca->path());
    client->enable_server_certificate_verification(true);
    made->tls = client.get();
    made->http = std::move(client);
  } else {
    made->http = std::make_unique<httplib::ClientImpl>(config_.host, config_.port);
  }
  httplib::ClientImpl& http = *made->http;
  http.set_keep_alive(true);
  http.set_tcp_nodelay(true);
  http.set_url_encode(false);
  http.set_follow_location(false);
  http.set_connection_timeout(options_.connect_timeout);
  http.set_socket_options([raw = made.get()](int socket) {
    set_socket_options(socket);
    raw->socket.attach(socket);
    raw->is_new = true;  // httplib also connects anew when it finds the connection dead
  });
  return made;
}

result<std::unique_ptr<connection>> httplib_transport::take(const http_request& request) {
  if (request.own_connection) return connect();
  const auto trust = secrets_.trust();
  std::vector<std::unique_ptr<connection>> dropped;  // closed outside the lock
  {
    std::lock_guard lock(mutex_);
    const auto now = clock_.now();
    std::vector<std::unique_ptr<connection>> kept;
    for (auto& one : idle_) {
      const bool good = now - one->idle_since <= max_idle && one->trust->generation == trust->generation;
      (good ? kept : dropped).push_back(std::move(one));
    }
    idle_ = std::move(kept);
    if (!idle_.empty() && now - idle_.back()->idle_since <= request.max_idle) {
      auto found = std::move(idle_.back());
      idle_.pop_back();
      found->is_new = false;
      return found;
    }
  }
  return connect();
}

void httplib_transport::give_back(std::unique_ptr<connection> used) {
  used->idle_since = clock_.now();
  std::unique_ptr<connection> dropped;
  std::lock_guard lock(mutex_);
  if (idle_.size() >= options_.max_idle_connections) {
    dropped = std::move(idle_.front());
    idle_.erase(idle_.begin());
  }
  idle_.push_back(std::move(used));
}

error httplib_transport::explain(httplib::Error code, const connection& used, const connection_guard::watched& watch,
                                 bool& sent) const {
  sent = code == httplib::Error::Read || code == httplib::Error::Write || code == httplib::Error::Canceled ||
         code == httplib::Error::Unknown;
  if (watch.was_canceled()) return {errc::canceled, "canceled by the caller"};
  if (watch.was_late() || (code == httplib::Error::Read && watch.is_due()))
    return {errc::timed_out, fmt::format("{} did not answer in time", host_)};
  switch (code) {
    case httplib::Error::SSLServerVerification: {
      const long verdict = used.tls->get_openssl_verify_result();
      return {errc::tls, fmt::format("{}: {}", host_,
                                     verdict == X509_V_OK ? "the certificate is for another name"
                                                          : X509_verify_cert_error_string(verdict))};
    }
    case httplib::Error::SSLLoadingCerts:
      return {errc::tls, "the CA bundle cannot be read"};
    case httplib::Error::SSLConnection:
      return {errc::network, fmt::format("{}: the TLS handshake failed", host_)};
    case httplib::Error::ConnectionTimeout:
      return {errc::network, fmt::format("{}: no connection in time", host_)};
    case httplib::Error::Connection:
    case httplib::Error::BindIPAddress:
      return {errc::network, fmt::format("{}: cannot connect", host_)};
    case httplib::Error::Write:
      return {errc::network, fmt::format("{}: the connection broke while writing", host_)};
    default:
      return {errc::network, fmt::format("{}: the connection broke before the end of the answer", host_)};
  }
}

http_exchange httplib_transport::send(const http_request& request, const body_sink& sink) {
  auto taken = take(request);
  if (!taken) return {tl::unexpected(taken.error()), false, false};
  connection& used = **taken;
  const auto remaining = std::max<io::duration>(request.deadline - io::system_clock().now(), std::chrono::seconds(1));
  used.http->set_read_timeout(remaining);
  used.http->set_write_timeout(remaining);

  http_response head;
  std::size_t received = 0;
  bool too_long = false, stopped = false;
  httplib::Request raw;
  raw.method = request.method;
  raw.path = config_.path_prefix + request.target;
  for (const auto& [name, value] : request.headers) raw.headers.emplace(name, value);
  raw.headers.emplace("Host", host_);
  raw.body = request.body;
  raw.response_handler = [&](const httplib::Response& response) {
    read_head(response, head);
    return true;
  };
  raw.content_receiver = [&](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
    if (sink) {
      stopped = !sink(head, {data, size});
      return !stopped;
    }
    received += size;
    too_long = received > options_.max_body_bytes;
    if (!too_long) head.body.append(data, size);
    return !too_long;
  };
  httplib::Response response;
  auto code = httplib::Error::Success;
  std::optional<connection_guard::watched> watch;
  watch.emplace(guard_, used.socket, request.deadline, request.cancel);
  const bool good = used.http->send(raw, response, code);
  ERR_clear_error();
  const bool reused = !used.is_new;
  if (good) {
    watch.reset();
    if (head.status == 0) read_head(response, head);  // no body
    if (!request.own_connection) give_back(std::move(*taken));
    return {std::move(head), true, reused};
  }
  if (too_long) {
    return {fail(errc::bad_response, fmt::format("an answer of more than {} bytes", options_.max_body_bytes)), true,
            reused};
  }
  if (stopped) return {fail(errc::canceled, "stopped by the reader"), true, reused};
  bool sent = true;
  error why = explain(code, used, *watch, sent);
  return {tl::unexpected(std::move(why)), sent, reused};
}

}  // namespace

std::unique_ptr<transport> make_transport(const client_config& config, credentials& secrets, const io::clock& clock,
                                          const transport_options& options) {
  return std::make_unique<httplib_transport>(config, secrets, clock, options);
}

}  // namespace braidmq::k8s
