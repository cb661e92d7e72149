// Inside of admin: the HTTP library's server under bounds of our own. Headers, body, time and threads are bounded; what
// is ambiguous is refused before a body is read; every request goes to one function.
//
// Why each: a fixed pool starves probes; chunked bodies and header counts are not bounded by the library;
// Content-Length with Transfer-Encoding is request smuggling (RFC 9112, 6.1); its answer to an exception holds the
// exception's text.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <string>

#include <httplib.h>

#include "admin/exchange.hpp"
#include "admin/router.hpp"

namespace braidmq::admin {

class guarded_server final : public httplib::Server {
 public:
  static constexpr std::size_t max_threads = 128;
  static constexpr std::size_t max_header_bytes = std::size_t{32} * 1024;
  static constexpr std::size_t max_path_bytes = 1024;
  static constexpr std::size_t max_body_bytes = std::size_t{1024} * 1024;

  // `may`: whether a route may be used with this Authorization header; asked before the body is read.
  using guard = std::function<std::optional<http_response>(const route&, const std::string& authorization)>;
  // `request_time`: so long may a request take to come whole.
  guarded_server(router& routes, guard may, std::chrono::milliseconds request_time);

  // Once bound: the library lets five connections wait for its thread; the sixth would try again a second later.
  void widen_backlog();
  // Takes no further request, also from connections that are here; answers under way leave. Then stop().
  void close_input();

 private:
  bool process_and_close_socket(socket_t socket) override;
  void serve(const httplib::Request& from, httplib::Response& to, const httplib::ContentReader* reader);
  http_response answer_to(const httplib::Request& from, const httplib::ContentReader* reader, const route*& to);
  http_response run(const route& to, http_request request);
  bool is_closing();

  router& routes_;
  guard may_;
  const std::chrono::milliseconds request_time_;
  std::mutex mutex_;
  std::set<socket_t> open_;  // guarded by mutex_
  bool closing_ = false;
};

}  // namespace braidmq::admin
