#include "admin/http_server.hpp"

#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>

#include "admin/guarded_server.hpp"
#include "admin/resources.hpp"
#include "admin/secret_file.hpp"
#include "net/errc.hpp"
#include "net/port_holder.hpp"
#include "net/resolve.hpp"

namespace braidmq::admin {
namespace {

using admin_client::errc;

// Without SO_REUSEPORT, which the library sets by default: a second process would share the port unseen.
void set_listen_options(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

// Every method but reading changes something.
std::optional<http_response> may_use(const secret_file& secrets, const route& to, const std::string& authorization) {
  if (to.method == "GET") return std::nullopt;
  const auto [verdict, words] = secrets.check(authorization);
  if (verdict == secret_file::verdict::accepted) return std::nullopt;
  if (verdict == secret_file::verdict::no_file) return error_response(errc::cluster_authorization_failed, words, 403);
  http_response refusal = error_response(errc::cluster_authorization_failed, words);
  refusal.headers["WWW-Authenticate"] = "Bearer";
  return refusal;
}

}  // namespace

struct http_server::state {
  explicit state(http_options given) : options(std::move(given)), secrets(options.secret_file) {
    options.metrics.emplace_back([this] { return routes.metrics(); });
    routes.add(health_routes(options.not_live, options.not_ready));
    routes.add(metrics_routes(options.metrics));
    if (options.api) {
      for (const auto resource : {cluster_routes, topic_routes, drain_routes, listener_routes}) {
        routes.add(resource(*options.api));
      }
    }
    server.set_socket_options(set_listen_options);
  }

  status bind() {
    const auto& wanted = options.listen;
    BRAID_TRY(address, net::resolve_to_listen(wanted));
    const auto host = address.address().to_string();
    errno = 0;
    if (wanted.port == 0) {
      const int chosen = server.bind_to_any_port(host);
      if (chosen > 0) {
        port = static_cast<std::uint16_t>(chosen);
        return {};
      }
    } else if (server.bind_to_port(host, wanted.port)) {
      port = wanted.port;
      return {};
    }
    const int code = errno;
    if (code == EADDRINUSE || net::find_port_holder(wanted.port)) return tl::unexpected(net::address_in_use(wanted));
    return fail(net::errc::not_reachable, fmt::format("cannot listen on {}: {}", wanted.to_string(),
                                                      std::error_code(code, std::generic_category()).message()));
  }

  void serve() {
    thread = std::thread([this] {
      server.listen_after_bind();
      ended = true;
    });
    // The library forgets a stop() that comes before its loop runs.
    while (!server.is_running() && !ended) std::this_thread::yield();
  }

  http_options options;
  secret_file secrets;
  router routes;
  guarded_server server{
      routes, [this](const route& to, const std::string& authorization) { return may_use(secrets, to, authorization); },
      options.request_time};
  std::thread thread;
  std::uint16_t port = 0;
  std::atomic<bool> ended{false};
};

result<std::unique_ptr<http_server>> http_server::start(http_options options) {
  auto made = std::make_unique<state>(std::move(options));
  if (!made->options.secret_file.empty()) BRAID_TRY_VOID(made->secrets.read());
  BRAID_TRY_VOID(made->bind());
  made->server.widen_backlog();
  made->serve();
  return std::unique_ptr<http_server>(new http_server(std::move(made)));
}

http_server::http_server(std::unique_ptr<state> of) : state_(std::move(of)) {}

http_server::~http_server() {
  stop();
}

void http_server::stop() {
  state_->server.close_input();
  state_->server.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

std::uint16_t http_server::port() const {
  return state_->port;
}

}  // namespace braidmq::admin
