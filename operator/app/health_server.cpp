#include "operator_app/health_server.hpp"

#include <atomic>
#include <cerrno>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>

namespace braidmq::operator_app {
namespace {

constexpr int threads = 2;
constexpr int timeout_s = 5;

void answer(const std::vector<std::string>& reasons, httplib::Response& response) {
  response.status = reasons.empty() ? 200 : 503;
  std::string text = reasons.empty() ? "ok\n" : "";
  for (const auto& one : reasons) text += one + "\n";
  response.set_content(text, "text/plain; charset=utf-8");
}

// By default the library lets a second process share the port unseen.
void set_listen_options(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

}  // namespace

struct health_server::state {
  explicit state(health_options given) : options(std::move(given)) {
    server.set_socket_options(set_listen_options);
    server.new_task_queue = [] { return new httplib::ThreadPool(threads); };
    server.set_payload_max_length(0);
    server.set_read_timeout(timeout_s);
    server.set_write_timeout(timeout_s);
    server.set_keep_alive_timeout(1);
    server.set_tcp_nodelay(true);
    server.Get("/healthz", [this](const auto&, auto& response) { answer(options.not_healthy(), response); });
    server.Get("/readyz", [this](const auto&, auto& response) { answer(options.not_ready(), response); });
    server.Get("/metrics", [this](const auto&, auto& response) {
      response.set_content(options.metrics(), "text/plain; version=0.0.4; charset=utf-8");
    });
  }

  status bind() {
    const auto host = options.listen.host.empty() ? std::string("0.0.0.0") : options.listen.host;
    errno = 0;
    if (options.listen.port == 0) {
      const int chosen = server.bind_to_any_port(host);
      port = static_cast<std::uint16_t>(std::max(chosen, 0));
    } else if (server.bind_to_port(host, options.listen.port)) {
      port = options.listen.port;
    }
    if (port != 0) return {};
    const std::error_code why(errno, std::generic_category());
    return fail(why, fmt::format("cannot listen on {}", options.listen.to_string()));
  }

  health_options options;
  httplib::Server server;
  std::uint16_t port = 0;
  std::atomic<bool> ended{false};
  std::thread thread;  // tidy: allow(thread): the library listens on its caller's
};

result<std::unique_ptr<health_server>> health_server::start(health_options options) {
  auto made = std::make_unique<state>(std::move(options));
  BRAID_TRY_VOID(made->bind());
  made->thread = std::thread([raw = made.get()] {  // tidy: allow(thread)
    raw->server.listen_after_bind();
    raw->ended = true;
  });
  // The library forgets a stop() that comes before its loop runs.
  while (!made->server.is_running() && !made->ended) std::this_thread::yield();
  return std::unique_ptr<health_server>(new health_server(std::move(made)));
}

health_server::health_server(std::unique_ptr<state> of) : state_(std::move(of)) {}

health_server::~health_server() {
  state_->server.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

std::uint16_t health_server::port() const {
  return state_->port;
}

}  // namespace braidmq::operator_app
