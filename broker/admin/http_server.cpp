#include "admin/http_server.hpp"

#include <atomic>
#include <cerrno>
#include <exception>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <httplib.h>
#include <nlohmann/json.hpp>
#include <prometheus/text_serializer.h>
#include <sys/socket.h>

#include "admin/metrics.hpp"
#include "net/errc.hpp"
#include "net/port_holder.hpp"
#include "net/resolve.hpp"

namespace braidmq::admin {
namespace {

// Each open connection holds a thread of the library until it ends or falls silent, hence many of them.
constexpr int worker_threads = 32;
constexpr int keep_alive_s = 1;
constexpr int read_write_s = 5;
constexpr std::size_t payload_bytes = std::size_t{64} * 1024;

std::string dump(const nlohmann::json& body) {
  return body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void answer_json(httplib::Response& response, int code, const nlohmann::json& body) {
  response.status = code;
  response.set_content(dump(body), "application/json");
}

void answer_error(httplib::Response& response, int code, const std::string& words) {
  answer_json(response, code, {{"error", words}});
}

void answer_health(httplib::Response& response, const char* good, const char* bad,
                   const std::vector<std::string>& reasons) {
  if (reasons.empty()) return answer_json(response, 200, {{"status", good}});
  answer_json(response, 503, {{"status", bad}, {"reasons", reasons}});
}

// Without SO_REUSEPORT, which the library sets by default: a second process would share the port unseen.
void set_listen_options(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

}  // namespace

struct http_server::state {
  http_options options;
  httplib::Server server;
  std::thread thread;
  std::uint16_t port = 0;
  std::atomic<bool> ended{false};

  void configure() {
    server.new_task_queue = [] { return new httplib::ThreadPool(worker_threads); };
    server.set_keep_alive_timeout(keep_alive_s);
    server.set_read_timeout(read_write_s);
    server.set_write_timeout(read_write_s);
    server.set_payload_max_length(payload_bytes);
    server.set_socket_options(set_listen_options);
    // Before the library reads a body: it does not bound chunked ones.
    server.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
      if (request.method == "GET" || request.method == "HEAD") return httplib::Server::HandlerResponse::Unhandled;
      response.set_header("Connection", "close");
      answer_error(response, 404, "there is nothing here for this method");
      return httplib::Server::HandlerResponse::Handled;
    });
    server.set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
      answer_error(response, 500, "internal error");  // its text may say what strangers should not read
    });
    // Named, because the library has two kinds of it and a lambda fits both.
    const httplib::Server::Handler on_error = [](const httplib::Request&, httplib::Response& response) {
      if (response.body.empty()) {
        answer_error(response, response.status, response.status == 404 ? "there is nothing here" : "bad request");
      }
    };
    server.set_error_handler(on_error);
    route();
  }

  void route() {
    server.Get("/livez", [this](const httplib::Request&, httplib::Response& response) {
      answer_health(response, "live", "not live", options.not_live ? options.not_live() : std::vector<std::string>());
    });
    server.Get("/readyz", [this](const httplib::Request&, httplib::Response& response) {
      const auto reasons = options.not_ready ? options.not_ready() : std::vector<std::string>{"starting"};
      answer_health(response, "ready", "not ready", reasons);
    });
    server.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(scrape(), "text/plain; version=0.0.4; charset=utf-8");
    });
    server.Get("/v1/events", [](const httplib::Request&, httplib::Response& response) {
      answer_error(response, 404, "the event log is not built yet");
    });
  }

  std::string scrape() const {
    std::vector<prometheus::MetricFamily> families;
    for (const auto& source : options.metrics) {
      for (auto& family : source()) families.push_back(std::move(family));
    }
    auto lost = counter_family("metrics_series_dropped_total", "Series beyond the bound of their family");
    add_value(lost, static_cast<double>(dropped_series()));
    families.push_back(std::move(lost));
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, families);
    return out.str();
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
};

result<std::unique_ptr<http_server>> http_server::start(http_options options) {
  auto made = std::make_unique<state>();
  made->options = std::move(options);
  made->configure();
  BRAID_TRY_VOID(made->bind());
  made->serve();
  return std::unique_ptr<http_server>(new http_server(std::move(made)));
}

http_server::http_server(std::unique_ptr<state> of) : state_(std::move(of)) {}

http_server::~http_server() {
  stop();
}

void http_server::stop() {
  state_->server.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

std::uint16_t http_server::port() const {
  return state_->port;
}

}  // namespace braidmq::admin
