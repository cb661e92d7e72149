#include "support/k8s/fake_api_server.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/check.hpp"

namespace braidmq::k8s::testing {
namespace {

std::shared_ptr<SSL_CTX> make_context(const key_pair& pair) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  BIO* source = BIO_new_mem_buf(pair.certificate_pem.data(), static_cast<int>(pair.certificate_pem.size()));
  X509* certificate = PEM_read_bio_X509(source, nullptr, nullptr, nullptr);
  BIO_free(source);
  source = BIO_new_mem_buf(pair.key_pem.data(), static_cast<int>(pair.key_pem.size()));
  EVP_PKEY* key = PEM_read_bio_PrivateKey(source, nullptr, nullptr, nullptr);
  BIO_free(source);
  BRAID_CHECK(SSL_CTX_use_certificate(context.get(), certificate) == 1);
  BRAID_CHECK(SSL_CTX_use_PrivateKey(context.get(), key) == 1);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return context;
}

class tls_connection final : public server_connection {
 public:
  tls_connection(int socket, std::shared_ptr<SSL_CTX> context) : context_(std::move(context)), socket_(socket) {
    ssl_ = SSL_new(context_.get());
    SSL_set_fd(ssl_, socket_);
  }
  ~tls_connection() override {
    SSL_free(ssl_);
    if (socket_ >= 0) ::close(socket_);
  }

  bool accept() { return SSL_accept(ssl_) == 1; }
  bool is_open() const { return open_; }

  void send_raw(std::string_view bytes) override {
    if (open_ && !bytes.empty() && SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())) <= 0) open_ = false;
  }

  void close() override {
    if (!open_) return;
    open_ = false;
    SSL_shutdown(ssl_);
    ::shutdown(socket_, SHUT_RDWR);
  }

  void reset() override {
    open_ = false;
    const linger at_once{1, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    std::lock_guard lock(closing_);
    ::close(std::exchange(socket_, -1));
  }

  void wait_for_client() override {
    char unread = 0;
    while (SSL_read(ssl_, &unread, 1) > 0) continue;
    open_ = false;
  }

  // From another thread: wakes up whatever waits.
  void shut_down() {
    std::lock_guard lock(closing_);
    if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
  }

  std::optional<received_request> read_request() {
    std::size_t head_end = std::string::npos;
    while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!read_more()) return std::nullopt;
    }
    received_request request = parse_head(buffer_.substr(0, head_end));
    buffer_.erase(0, head_end + 4);
    const auto length = request.headers.find("content-length");
    const std::size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
    while (buffer_.size() < size) {
      if (!read_more()) return std::nullopt;
    }
    request.body = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return request;
  }

 private:
  bool read_more() {
    char piece[16384];
    const int got = open_ ? SSL_read(ssl_, piece, sizeof piece) : 0;
    if (got <= 0) return false;
    buffer_.append(piece, static_cast<std::size_t>(got));
    return true;
  }

  static received_request parse_head(const std::string& head) {
    received_request request;
    const auto line_end = std::min(head.find("\r\n"), head.size());
    const std::string line = head.substr(0, line_end);
    const auto first = line.find(' '), second = line.find(' ', first + 1);
    request.method = line.substr(0, first);
    request.target = line.substr(first + 1, second - first - 1);
    for (std::size_t at = line_end + 2; at < head.size();) {
      const auto end = std::min(head.find("\r\n", at), head.size());
      const auto colon = head.find(':', at);
      std::string name = head.substr(at, colon - at);
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      request.headers[name] = head.substr(colon + 2, end - colon - 2);
      at = end + 2;
    }
    return request;
  }

  std::shared_ptr<SSL_CTX> context_;
  std::mutex closing_;
  int socket_;
  SSL* ssl_;
  bool open_ = true;
  std::string buffer_;
};

}  // namespace

std::string received_request::parameter(const std::string& name) const {
  for (std::size_t at = target.find('?'); at != std::string::npos;) {
    const auto end = target.find('&', at + 1);
    const std::string pair = target.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    at = end;
    if (pair.substr(0, pair.find('=')) != name) continue;
    std::string decoded;
    for (std::size_t i = name.size() + 1; i < pair.size(); ++i) {
      if (pair[i] == '%') {
        decoded += static_cast<char>(std::stoi(pair.substr(i + 1, 2), nullptr, 16));
        i += 2;
      } else {
        decoded += pair[i];
      }
    }
    return decoded;
  }
  return {};
}

void server_connection::respond(int status, std::string_view body, const std::map<std::string, std::string>& headers) {
  std::string answer = fmt::format("HTTP/1.1 {} Words\r\nContent-Length: {}\r\n", status, body.size());
  for (const auto& [name, value] : headers) answer += fmt::format("{}: {}\r\n", name, value);
  send_raw(fmt::format("{}\r\n{}", answer, body));
}

void server_connection::start_stream() {
  send_raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
}

void server_connection::send_piece(std::string_view piece) {
  send_raw(fmt::format("{:x}\r\n{}\r\n", piece.size(), piece));
}

struct fake_api_server::state {
  void accept_all() {
    for (;;) {
      const int socket = ::accept(listener, nullptr, nullptr);
      if (socket < 0 || stopping) {
        if (socket >= 0) ::close(socket);
        return;
      }
      const int on = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      std::lock_guard lock(mutex);
      auto one = std::make_shared<tls_connection>(socket, context);
      open.push_back(one);
      const int number = static_cast<int>(open.size());
      threads.emplace_back([this, one, number] { serve(*one, number); });
    }
  }

  void serve(tls_connection& one, int number) {
    serve_requests(one, number);
    one.shut_down();
  }

  void serve_requests(tls_connection& one, int number) {
    if (silent_handshake) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return stopping.load() || !silent_handshake; });
      return;
    }
    if (!one.accept()) return;
    for (int count = 1; one.is_open(); ++count) {
      auto request = one.read_request();
      if (!request) return;
      request->connection = number;
      request->number = count;
      {
        std::lock_guard lock(mutex);
        seen.push_back(*request);
        changed.notify_all();
      }
      on_request(*request, one);
    }
  }

  handler on_request;
  int listener = -1;
  std::uint16_t port = 0;
  std::atomic<bool> stopping{false};
  std::atomic<bool> silent_handshake{false};
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::shared_ptr<SSL_CTX> context;
  std::vector<std::shared_ptr<tls_connection>> open;
  std::vector<std::thread> threads;
  std::vector<received_request> seen;
  std::thread acceptor;
};

fake_api_server::fake_api_server(key_pair certificate, handler on_request) : state_(std::make_unique<state>()) {
  state_->on_request = std::move(on_request);
  state_->context = make_context(certificate);
  state_->listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  BRAID_CHECK(::bind(state_->listener, reinterpret_cast<sockaddr*>(&address), size) == 0);
  BRAID_CHECK(::listen(state_->listener, 64) == 0);
  BRAID_CHECK(::getsockname(state_->listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  state_->port = ntohs(address.sin_port);
  state_->acceptor = std::thread([this] { state_->accept_all(); });
}

fake_api_server::~fake_api_server() {
  stop();
}

void fake_api_server::stop() {
  if (state_->stopping.exchange(true)) return;
  ::shutdown(state_->listener, SHUT_RDWR);
  state_->acceptor.join();
  ::close(state_->listener);
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(state_->mutex);
    for (const auto& one : state_->open) one->shut_down();
    threads.swap(state_->threads);
    state_->changed.notify_all();
  }
  for (auto& thread : threads) thread.join();
}

std::uint16_t fake_api_server::port() const {
  return state_->port;
}

void fake_api_server::use_certificate(key_pair certificate) {
  std::lock_guard lock(state_->mutex);
  state_->context = make_context(certificate);
}

void fake_api_server::set_silent_handshake(bool silent) {
  state_->silent_handshake = silent;
}

std::vector<received_request> fake_api_server::requests() const {
  std::lock_guard lock(state_->mutex);
  return state_->seen;
}

int fake_api_server::connections() const {
  std::lock_guard lock(state_->mutex);
  return static_cast<int>(state_->open.size());
}

bool fake_api_server::wait_for_requests(std::size_t count) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::seconds(10), [&] { return state_->seen.size() >= count; });
}

}  // namespace braidmq::k8s::testing
