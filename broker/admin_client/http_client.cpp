#include <algorithm>
#include <fstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <httplib.h>
#include <nlohmann/json.hpp>

#include "admin_client/admin_client.hpp"
#include "admin_client/codec.hpp"
#include "admin_client/object_reader.hpp"
#include "admin_client/strict_json.hpp"
#include "io/clock.hpp"
#include "io/endpoint.hpp"

namespace braidmq::admin_client {
namespace {

using nlohmann::json;

constexpr std::size_t answer_depth = 32;  // a later broker may nest deeper than this version's
constexpr std::size_t max_secret_file_bytes = std::size_t{64} * 1024;

// Everything but what RFC 3986 calls unreserved.
std::string escape_path(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

struct answer {
  int status = 0;
  json body;
};

class http_client final : public client {
 public:
  http_client(client_options options, io::endpoint at) : options_(std::move(options)), at_(std::move(at)) {}

  result<cluster_info> cluster() override {
    BRAID_TRY(said, call("GET", "/v1/cluster"));
    return read(said, cluster_from_json);
  }

  result<readiness> ready() override {
    BRAID_TRY(said, exchange("GET", "/readyz", "", options_.timeout));
    if (said.status != 200 && said.status != 503) return tl::unexpected(refusal(said));
    readiness value{.ready = said.status == 200, .reasons = {}};
    object_reader reader(said.body, "");
    reader.read_if_there("reasons", value.reasons);
    if (const status good = reader.finish(); !good) return bad_answer(good.error().message);
    return value;
  }

  result<topic_page> topics(const std::string& after, std::int32_t limit) override {
    std::string path = fmt::format("/v1/topics?limit={}", limit);
    if (!after.empty()) path += "&after=" + escape_path(after);
    BRAID_TRY(said, call("GET", path));
    return read(said, page_from_json);
  }

  result<topic_info> topic(const std::string& name) override {
    BRAID_TRY(said, call("GET", topic_path(name)));
    return read(said, topic_from_json);
  }

  result<topic_info> create_topic(const topic_creation& wanted) override {
    BRAID_TRY(said, call("POST", "/v1/topics", to_text(to_json(wanted)), change_patience));
    return read(said, topic_from_json);
  }

  result<topic_info> change_topic(const topic_change& wanted) override {
    BRAID_TRY(said, call("PATCH", topic_path(wanted.name), to_text(to_json(wanted)), change_patience));
    return read(said, topic_from_json);
  }

  status delete_topic(const std::string& name, const std::optional<std::string>& id) override {
    std::string path = topic_path(name);
    if (id) path += "?id=" + escape_path(*id);
    BRAID_TRY_VOID(call("DELETE", path, "", change_patience));
    return {};
  }

  result<drain_state> drain(std::chrono::milliseconds timeout) override {
    BRAID_TRY(said, call("POST", "/v1/drain", to_text({{"timeoutMs", timeout.count()}}), timeout));
    return read(said, drain_from_json);
  }

  result<drain_state> drain_status() override {
    BRAID_TRY(said, call("GET", "/v1/drain"));
    return read(said, drain_from_json);
  }

  status set_listener(const listener_info& listener) override {
    const json body = {{"host", listener.host}, {"port", listener.port}};
    BRAID_TRY_VOID(call("PUT", "/v1/listeners/" + escape_path(listener.name), to_text(body)));
    return {};
  }

 private:
  // A broker answers a change of topics when it has been applied, within this time.
  static constexpr std::chrono::milliseconds change_patience = std::chrono::seconds(30);

  static std::string topic_path(const std::string& name) { return "/v1/topics/" + escape_path(name); }

  tl::unexpected<error> bad_answer(const std::string& why) const {
    return fail(errc::bad_answer, fmt::format("{}: {}", options_.url, why));
  }

  template <class T>
  result<T> read(const answer& said, result<T> (*from_json)(const json&)) const {
    result<T> value = from_json(said.body);
    if (!value) return bad_answer(value.error().message);
    return value;
  }

  static error refusal(const answer& said) {
    std::string name;
    std::string message;
    if (said.body.is_object()) {
      object_reader reader(said.body, "");
      reader.read_if_there("error", name);
      reader.read_if_there("message", message);
    }
    const errc code = errc_of(name);
    if (code == errc::bad_answer) return {make_error_code(code), fmt::format("HTTP status {}", said.status)};
    if (code == errc::refused) message = name + ": " + message;
    return {make_error_code(code), message};
  }

  // An answer of success, or the refusal as an error.
  result<answer> call(const std::string& method, const std::string& path, const std::string& body = {},
                      std::chrono::milliseconds more_time = {}) {
    BRAID_TRY(said, exchange(method, path, body, options_.timeout + more_time));
    if (said.status / 100 != 2) return tl::unexpected(with_context(refusal(said), method + " " + path));
    return std::move(said);
  }

  result<answer> exchange(const std::string& method, const std::string& path, const std::string& body,
                          std::chrono::milliseconds timeout) {
    httplib::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    request.set_header("Connection", "close");
    if (!body.empty()) request.set_header("Content-Type", "application/json");
    if (method != "GET" && options_.secret) {
      BRAID_TRY(secret, options_.secret());
      if (!secret.empty()) request.set_header("Authorization", "Bearer " + secret);
    }
    std::string received;
    const auto deadline = io::system_clock().now() + timeout;
    bool too_large = false;
    request.content_receiver = [&](const char* data, std::size_t size, std::uint64_t, std::uint64_t) {
      too_large = received.size() + size > options_.max_body_bytes;
      if (too_large || io::system_clock().now() > deadline) return false;
      received.append(data, size);
      return true;
    };
    try {
      httplib::Client connection(at_.host, at_.port);
      connection.set_connection_timeout(options_.timeout);
      connection.set_read_timeout(timeout);
      connection.set_write_timeout(options_.timeout);
      const auto said = connection.send(request);
      if (too_large) return bad_answer(fmt::format("more than {} bytes", options_.max_body_bytes));
      if (!said) return tl::unexpected(transport_error(said.error()));
      return parsed(said->status, received);
    } catch (const std::exception& e) {
      return bad_answer(e.what());
    }
  }

  result<answer> parsed(int status, const std::string& received) const {
    if (received.empty()) return answer{status, json()};
    auto body = parse_json(received, answer_depth);
    if (!body && status / 100 != 2) return bad_answer(fmt::format("HTTP status {}", status));
    if (!body) return bad_answer(body.error().message);
    return answer{status, std::move(*body)};
  }

  error transport_error(httplib::Error code) const {
    const bool connected = code != httplib::Error::Connection && code != httplib::Error::ConnectionTimeout;
    return {make_error_code(connected ? errc::timed_out : errc::unreachable), options_.url};
  }

  client_options options_;
  io::endpoint at_;
};

}  // namespace

result<std::unique_ptr<client>> connect(client_options options) {
  constexpr std::string_view scheme = "http://";
  std::string_view rest = options.url;
  if (!rest.starts_with(scheme)) {
    return fail(errc::invalid_request, fmt::format("\"{}\" must be of the form http://host:port", options.url));
  }
  rest.remove_prefix(scheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  auto at = io::parse_endpoint(rest);
  if (!at) return fail(errc::invalid_request, at.error().message);
  if (at->host.empty()) return fail(errc::invalid_request, fmt::format("\"{}\" names no host", options.url));
  return std::unique_ptr<client>(std::make_unique<http_client>(std::move(options), std::move(*at)));
}

std::function<result<std::string>()> secret_from_file(std::string path) {
  return [path = std::move(path)]() -> result<std::string> {
    std::ifstream file(path, std::ios::binary);
    std::string line;
    std::size_t read = 0;
    while (file && read < max_secret_file_bytes && std::getline(file, line)) {
      read += line.size() + 1;
      while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
      if (!line.empty()) return line;
    }
    return fail(errc::cluster_authorization_failed, fmt::format("{} cannot be read, or holds no secret", path));
  };
}

result<std::vector<topic_info>> all_topics(client& of, std::size_t max_topics) {
  constexpr std::int32_t page = 1000;
  std::vector<topic_info> all;
  std::string after;
  while (true) {
    BRAID_TRY(got, of.topics(after, page));
    if (all.size() + got.topics.size() > max_topics) {
      return fail(errc::bad_answer, fmt::format("more than {} topics", max_topics));
    }
    std::ranges::move(got.topics, std::back_inserter(all));
    if (!got.next) return all;
    if (*got.next <= after) return fail(errc::bad_answer, fmt::format("the list goes back to \"{}\"", *got.next));
    after = std::move(*got.next);
  }
}

}  // namespace braidmq::admin_client
