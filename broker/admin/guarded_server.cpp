#include "admin/guarded_server.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admin/guarded_stream.hpp"
#include "admin/worker_pool.hpp"

namespace braidmq::admin {
namespace {

using admin_client::errc;
using namespace std::chrono_literals;

constexpr auto idle_time = 1s;         // of a connection between requests
constexpr auto write_time = 15'000ms;  // for a whole answer
constexpr auto linger_time = 200ms;
constexpr std::size_t max_requests = 1000;  // of one connection
// Chunks may be small; what they carry is bounded apart from what they cost.
constexpr std::size_t body_bytes_on_the_wire = 4 * guarded_server::max_body_bytes;

// Of the request that this thread serves.
struct connection_state {
  guarded_stream* stream = nullptr;
  bool close_after = false;
};
thread_local connection_state current;  // NOLINT: the library has no place to pass it through

bool has_body(const httplib::Request& request) {
  if (request.has_header("Transfer-Encoding")) return true;
  return request.has_header("Content-Length") && request.get_header_value("Content-Length") != "0";
}

std::string_view raw_path(const httplib::Request& request) {
  return std::string_view(request.target).substr(0, request.target.find_first_of("?#"));
}

// What cannot be taken for sure in one way only.
std::optional<http_response> ambiguous(const httplib::Request& request) {
  const auto refuse = [](const std::string& why, int status = 400) {
    return error_response(errc::invalid_request, why, status);
  };
  const std::string_view path = raw_path(request);
  if (path.size() > guarded_server::max_path_bytes) return refuse("the path is too long", 414);
  const auto odd = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; };
  if (std::ranges::any_of(request.target, odd)) return refuse("the path holds control characters");
  const auto lengths = request.get_header_value_count("Content-Length");
  const auto encodings = request.get_header_value_count("Transfer-Encoding");
  if (lengths + encodings > 1) return refuse("the length of the body is given in more than one way");
  if (encodings == 1 && request.get_header_value("Transfer-Encoding") != "chunked") {
    return refuse("Transfer-Encoding must be chunked", 501);
  }
  if (request.has_header("Content-Encoding")) return refuse("encoded bodies are not read", 415);
  const std::string length = request.get_header_value("Content-Length");
  if (length.find_first_not_of("0123456789") != std::string::npos || length.size() > 18 ||
      (lengths == 1 && length.empty())) {
    return refuse("Content-Length is not a number");
  }
  if (!length.empty() && std::stoull(length) > guarded_server::max_body_bytes) {
    return refuse(fmt::format("the body has more than {} bytes", guarded_server::max_body_bytes), 413);
  }
  return std::nullopt;
}

void write(const http_response& from, httplib::Response& to) {
  to.status = from.status;
  for (const auto& [name, value] : from.headers) to.set_header(name, value);
  if (!from.content_type.empty()) to.set_content(from.body, from.content_type);
  if (current.close_after) to.set_header("Connection", "close");
}

}  // namespace

guarded_server::guarded_server(router& routes, guard may, std::chrono::milliseconds request_time)
    : routes_(routes), may_(std::move(may)), request_time_(request_time) {
  new_task_queue = [] { return new worker_pool(max_threads); };
  // The library tells clients so; what is done is done below.
  set_keep_alive_timeout(std::chrono::seconds(idle_time).count());
  set_keep_alive_max_count(max_requests);
  set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    current.stream->allow_more(body_bytes_on_the_wire);
    const bool may_have_body =
        request.method == "POST" || request.method == "PUT" || request.method == "PATCH" || request.method == "DELETE";
    // A body that nobody reads must not be taken for the next request.
    if (may_have_body || has_body(request)) current.close_after = true;
    if (may_have_body && !ambiguous(request)) return HandlerResponse::Unhandled;
    serve(request, response, nullptr);
    return HandlerResponse::Handled;
  });
  const HandlerWithContentReader with_body = [this](const httplib::Request& request, httplib::Response& response,
                                                    const httplib::ContentReader& reader) {
    serve(request, response, &reader);
  };
  // Control characters are refused before, so that this matches every path.
  Post(".*", with_body);
  Put(".*", with_body);
  Patch(".*", with_body);
  Delete(".*", with_body);
  set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
    write(error_response(errc::refused, "internal error"), response);
  });
  // Named, because the library has two kinds of it and a lambda fits both.
  const Handler on_error = [this](const httplib::Request&, httplib::Response& response) {
    if (!response.body.empty()) return;
    current.close_after = true;
    routes_.count(nullptr, response.status, {});
    write(error_response(response.status == 404 ? errc::not_found : errc::invalid_request,
                         "the request is not well-formed", response.status),
          response);
  };
  set_error_handler(on_error);
}

void guarded_server::serve(const httplib::Request& from, httplib::Response& to, const httplib::ContentReader* reader) {
  const auto began = io::system_clock().now();
  const route* target = nullptr;
  const http_response said = answer_to(from, reader, target);
  write(said, to);
  routes_.count(target, said.status, io::system_clock().now() - began);
  current.stream->begin_answer(write_time);
}

http_response guarded_server::answer_to(const httplib::Request& from, const httplib::ContentReader* reader,
                                        const route*& to) {
  if (auto refusal = ambiguous(from)) return std::move(*refusal);
  router::match found = routes_.find(from.method, raw_path(from));
  if (found.to == nullptr) return std::move(found.refusal);
  to = found.to;
  http_request request{.method = from.method,
                       .path = from.path,
                       .name = std::move(found.name),
                       .query = {},
                       .authorization = {},
                       .body = {}};
  if (from.get_header_value_count("Authorization") == 1) request.authorization = from.get_header_value("Authorization");
  if (auto refusal = may_(*to, request.authorization)) return std::move(*refusal);
  for (const auto& [key, value] : from.params) request.query.emplace(key, value);
  // Without a length the library would read until the client goes.
  if (reader != nullptr && has_body(from)) {
    bool too_large = false;
    const bool whole = (*reader)([&](const char* data, std::size_t size) {
      too_large = request.body.size() + size > max_body_bytes;
      if (!too_large) request.body.append(data, size);
      return !too_large;
    });
    if (too_large) {
      return error_response(errc::invalid_request, fmt::format("the body has more than {} bytes", max_body_bytes), 413);
    }
    if (!whole && is_closing()) return error_response(errc::refused, "the broker is ending", 503);
    if (!whole) return error_response(errc::invalid_request, "the body did not come whole in time", 408);
  }
  return run(*to, std::move(request));
}

http_response guarded_server::run(const route& to, http_request request) {
  try {
    return to.handle(request);
  } catch (const std::exception&) {
    return error_response(errc::refused, "internal error");  // its text may say what strangers should not read
  }
}

// As the library does it, but with the guarded stream.
bool guarded_server::process_and_close_socket(socket_t socket) {
  guarded_stream stream(socket);
  bool taken = false;
  {
    const std::scoped_lock lock(mutex_);
    taken = !closing_;
    if (taken) open_.insert(socket);
  }
  bool served = false;
  for (std::size_t count = 1; taken && count <= max_requests && stream.wait_for_request(idle_time); ++count) {
    stream.begin_request(max_header_bytes, request_time_);
    current = {.stream = &stream, .close_after = count == max_requests};
    bool closed = false;
    // No answer here has parts to be asked for, and the library would repeat the whole for every range that is named.
    served = process_request(stream, count == max_requests, closed,
                             [](httplib::Request& request) { request.ranges.clear(); });
    if (!served || closed || current.close_after) break;
  }
  current = {};
  // What the client still sends is read and dropped for a moment: closing over it would reset the connection, and the
  // answer might be lost with it.
  ::shutdown(socket, SHUT_WR);
  stream.begin_request(body_bytes_on_the_wire, linger_time);
  std::array<char, 4096> rest{};
  while (stream.read(rest.data(), rest.size()) > 0) {
  }
  const std::scoped_lock lock(mutex_);  // no other thread may use the number once it is free
  open_.erase(socket);
  ::close(socket);
  return served;
}

void guarded_server::widen_backlog() {
  ::listen(svr_sock_, SOMAXCONN);
}

bool guarded_server::is_closing() {
  const std::scoped_lock lock(mutex_);
  return closing_;
}

void guarded_server::close_input() {
  const std::scoped_lock lock(mutex_);
  closing_ = true;
  for (const socket_t socket : open_) ::shutdown(socket, SHUT_RD);
}

}  // namespace braidmq::admin
