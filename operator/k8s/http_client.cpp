#include "k8s/http_client.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "k8s/api_status.hpp"
#include "k8s/credentials.hpp"
#include "k8s/list_page.hpp"
#include "k8s/resource_path.hpp"
#include "k8s/stop_signal.hpp"
#include "k8s/watch_stream.hpp"

namespace braidmq::k8s {
namespace {

using namespace std::chrono_literals;

constexpr const char* json_type = "application/json";
constexpr const char* partial_type = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
constexpr const char* partial_list_type = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
constexpr std::size_t max_status_bytes = 1U << 20U;  // of a refusal that comes where a stream was expected

struct call {
  const char* verb;  // for the figures
  std::string method;
  std::string target;
  std::string content_type;
  std::string body;
  std::string accept = json_type;
  operation kind = operation::other;
  bool repeatable = false;
  io::duration max_idle = 30s;
};

const char* word_of(const error& e) {
  if (e.code == errc::timed_out) return "timeout";
  if (e.code == errc::tls) return "tls";
  if (e.code == errc::canceled) return "canceled";
  if (e.code == errc::bad_response) return "bad_response";
  return "network";
}

std::optional<io::duration> retry_after_of(const http_response& answer, const api_status& status) {
  const auto header = answer.headers.find("retry-after");
  if (header != answer.headers.end()) {
    // Seconds; the other form, a date, no API server sends.
    const std::string& text = header->second;
    if (!text.empty() && text.size() <= 4 && text.find_first_not_of("0123456789") == std::string::npos) {
      return std::chrono::seconds(std::stoi(text));
    }
  }
  if (status.retry_after) return *status.retry_after;
  return std::nullopt;
}

bool is_success(int code) {
  return code >= 200 && code < 300;
}

}  // namespace

struct http_client::state {
  state(client_config c, http_client_options o, const io::clock& clock, io::random_source& r)
      : config(std::move(c)),
        options(std::move(o)),
        random(r),
        secrets(config, clock),
        wire(make_transport(config, secrets, clock, options.connections)) {}

  void count(const char* verb, const std::string& code) {
    std::lock_guard lock(mutex);
    ++counts.requests[{verb, code}];
  }

  http_request to_request(const call& what, io::time_point deadline) {
    http_request request;
    request.method = what.method;
    request.target = what.target;
    request.body = what.body;
    request.deadline = deadline;
    request.max_idle = what.max_idle;
    request.cancel = &stop.flag();
    request.headers = {{"Accept", what.accept}, {"User-Agent", options.user_agent}};
    if (!what.content_type.empty()) request.headers["Content-Type"] = what.content_type;
    const std::string token = config.tls ? secrets.token() : "";  // never in the clear
    if (!token.empty()) request.headers["Authorization"] = "Bearer " + token;
    return request;
  }

  // Doubling, and between that and half as much again, so that clients that failed together do not return together.
  io::duration pause_after(int attempts) {
    io::duration pause = options.first_retry;
    for (int i = 1; i < attempts && pause < options.last_retry; ++i) pause *= 2;
    pause = std::min(pause, options.last_retry);
    return pause + io::duration(random.next_u64() % static_cast<std::uint64_t>(pause.count() / 2 + 1));
  }

  result<std::string> run(const call& what);
  result<json> run_for_object(const call& what);
  result<watch_end> watch_once(const call& what, const watch_options& wanted, const std::atomic<bool>& cancel,
                               const watch_handler& handler, std::optional<api_status>& refusal);

  const client_config config;
  const http_client_options options;
  io::random_source& random;
  credentials secrets;
  std::unique_ptr<transport> wire;
  stop_signal stop;
  mutable std::mutex mutex;
  api_figures counts;
};

// What one attempt came to, and whether another may follow.
namespace {

struct attempt_result {
  error why;
  bool again = false;
  std::optional<io::duration> wait;  // what the server asks for, or at once
};

}  // namespace

result<std::string> http_client::state::run(const call& what) {
  const auto deadline = io::system_clock().now() + options.deadline;
  bool tried_token = false, tried_trust = false;
  for (int attempts = 1;; ++attempts) {
    if (stop.raised()) return fail(errc::canceled, "the client is shut down");
    const auto trust = secrets.trust();
    const auto request = to_request(what, deadline);
    if (what.method != "GET" && options.may_write && !options.may_write())
      return fail(errc::not_leading, fmt::format("{} was not sent: the Lease may be another's by now", what.verb));
    http_exchange got = wire->send(request);
    attempt_result failed;
    if (got.answer) {
      const int code = got.answer->status;
      count(what.verb, std::to_string(code));
      if (is_success(code)) return std::move(got.answer->body);
      const api_status status = decode_status(code, got.answer->body);
      failed.why = to_error(status, what.kind);
      failed.wait = retry_after_of(*got.answer, status);
      if (code == 401 && !tried_token) {
        tried_token = true;
        secrets.token_was_refused();
        failed.again = true;
        failed.wait = 0s;
      }
      if (code == 429 || (code >= 500 && what.repeatable)) failed.again = true;
    } else {
      failed.why = got.answer.error();
      count(what.verb, word_of(failed.why));
      if (failed.why.code == errc::tls && !tried_trust) {
        tried_trust = true;
        failed.again = secrets.trust_was_wrong(*trust);
        failed.wait = 0s;
      }
      if (failed.why.code == errc::network) {
        failed.again = what.repeatable || !got.was_sent;
        // The server may just have closed a connection that was idle: that is no trouble of its own.
        if (got.was_reused && attempts == 1) failed.wait = 0s;
      }
    }
    const io::duration pause = failed.wait.value_or(pause_after(attempts));
    const bool in_time = io::system_clock().now() + pause < deadline;
    if (!failed.again || !in_time) return tl::unexpected(std::move(failed.why));
    if (!stop.wait_for(pause)) return fail(errc::canceled, "the client is shut down");
  }
}

result<json> http_client::state::run_for_object(const call& what) {
  BRAID_TRY(body, run(what));
  return decode_object(body);
}

http_client::http_client(client_config config, http_client_options options, const io::clock& clock,
                         io::random_source& random)
    : state_(std::make_unique<state>(std::move(config), std::move(options), clock, random)) {}

http_client::~http_client() = default;

result<json> http_client::get(const resource_type& type, const object_key& key) {
  call what{.verb = "GET", .method = "GET", .kind = operation::read, .repeatable = true};
  BRAID_TRY(path, object_path(type, key));
  what.target = path;
  return state_->run_for_object(what);
}

result<list_page> http_client::list(const resource_type& type, const list_options& options) {
  call what{.verb = "LIST", .method = "GET", .kind = operation::read, .repeatable = true};
  if (options.metadata_only) what.accept = partial_list_type;
  BRAID_TRY(path, collection_path(type, options.namespace_name));
  query_parameters query{{"labelSelector", options.label_selector}, {"fieldSelector", options.field_selector}};
  if (options.limit > 0) query.emplace_back("limit", std::to_string(options.limit));
  // The pages that follow belong to the version of the first.
  if (!options.continue_token.empty()) {
    query.emplace_back("continue", options.continue_token);
  } else if (options.resource_version && !options.resource_version->empty()) {
    query.emplace_back("resourceVersion", *options.resource_version);
    query.emplace_back("resourceVersionMatch", "NotOlderThan");
  }
  what.target = with_query(std::move(path), query);
  BRAID_TRY(object, state_->run_for_object(what));
  const auto items = object.find("items");
  // An empty list of some kinds is null.
  if (items == object.end() || !(items->is_array() || items->is_null())) {
    return fail(errc::bad_response, fmt::format("a list of {} without items", type.plural));
  }
  list_page page;
  page.resource_version = resource_version_of(object);
  if (const json* token = find(object, {"metadata", "continue"}); token != nullptr && token->is_string()) {
    page.continue_token = token->get<std::string>();
  }
  if (items->is_array()) {
    page.items.reserve(items->size());
    for (json& item : *items) {
      if (!item.is_object()) return fail(errc::bad_response, fmt::format("an item of {} is no object", type.plural));
      if (!item.contains("apiVersion")) item["apiVersion"] = type.api_version();
      if (!item.contains("kind")) item["kind"] = type.kind;
      page.items.push_back(std::move(item));
    }
  }
  return page;
}

result<json> http_client::create(const resource_type& type, const json& object, const std::string& field_manager) {
  // Not on a connection that was idle for long: the server may close it now, and the request cannot be sent again.
  call what{.verb = "CREATE", .method = "POST", .content_type = json_type, .kind = operation::create, .max_idle = 2s};
  if (type.namespaced && namespace_of(object).empty()) {
    return fail(errc::invalid, fmt::format("{} \"{}\" without a namespace", type.kind, name_of(object)));
  }
  BRAID_TRY(path, collection_path(type, std::string(namespace_of(object))));
  what.target = with_query(std::move(path), {{"fieldManager", field_manager}});
  what.body = object.dump(-1, ' ', false, json::error_handler_t::replace);
  return state_->run_for_object(what);
}

result<json> http_client::apply(const resource_type& type, const json& object, const apply_options& options) {
  call what{.verb = "APPLY",
            .method = "PATCH",
            .content_type = "application/apply-patch+yaml",  // JSON is YAML
            .repeatable = true};
  if (options.field_manager.empty()) return fail(errc::invalid, "an apply without a field manager");
  BRAID_TRY(path, object_path(type, key_of(object), options.subresource));
  what.target =
      with_query(std::move(path), {{"fieldManager", options.field_manager}, {"force", options.force ? "true" : ""}});
  json sent = object;
  if (sent.contains("metadata")) sent["metadata"].erase("managedFields");  // refused in an apply
  what.body = sent.dump(-1, ' ', false, json::error_handler_t::replace);
  return state_->run_for_object(what);
}

result<json> http_client::json_patch(const resource_type& type, const object_key& key, const json& operations,
                                     const std::string& subresource) {
  call what{.verb = "PATCH",
            .method = "PATCH",
            .content_type = "application/json-patch+json",
            .kind = operation::patch,
            .max_idle = 2s};
  BRAID_TRY(path, object_path(type, key, subresource));
  what.target = with_query(std::move(path), {{"fieldManager", state_->options.field_manager}});
  what.body = operations.dump(-1, ' ', false, json::error_handler_t::replace);
  return state_->run_for_object(what);
}

status http_client::remove(const resource_type& type, const object_key& key, const delete_options& options) {
  call what{.verb = "DELETE", .method = "DELETE", .content_type = json_type, .repeatable = !options.uid.empty()};
  if (!what.repeatable) what.max_idle = 2s;
  BRAID_TRY(path, object_path(type, key));
  what.target = path;
  json body = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", options.propagation}};
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) body["preconditions"]["resourceVersion"] = options.resource_version;
  what.body = body.dump();
  auto done = state_->run(what);
  if (!done && done.error().code != errc::not_found) return tl::unexpected(std::move(done).error());
  return {};
}

result<watch_end> http_client::state::watch_once(const call& what, const watch_options& wanted,
                                                 const std::atomic<bool>& cancel, const watch_handler& handler,
                                                 std::optional<api_status>& refusal) {
  http_request request = to_request(what, io::system_clock().now() + wanted.timeout + options.watch_grace);
  request.cancel = &cancel;
  request.own_connection = true;
  line_splitter lines(options.max_watch_line_bytes);
  std::string refused_body;
  std::optional<error> broken;
  bool stopped = false;
  const auto take_line = [&](std::string_view line) {
    if (cancel) return false;
    auto event = decode_watch_event(line);
    if (!event) {
      broken = event.error();
      return false;
    }
    stopped = !handler(event->type, std::move(event->object));
    return !stopped;
  };
  http_exchange got = wire->send(request, [&](const http_response& head, std::string_view piece) {
    if (head.status != 200) {
      refused_body.append(piece.substr(0, max_status_bytes - std::min(max_status_bytes, refused_body.size())));
      return true;
    }
    const auto fed = lines.feed(piece, take_line);
    if (!fed) broken = fed.error();
    return fed && *fed;
  });
  // The code is counted once, when the watch is over: until then it is none of the requests that were answered.
  if (got.answer && got.answer->status != 200) {
    count(what.verb, std::to_string(got.answer->status));
    refusal = decode_status(got.answer->status, refused_body);
    if (const auto wait = retry_after_of(*got.answer, *refusal)) {
      refusal->retry_after = std::chrono::duration_cast<std::chrono::seconds>(*wait);
    }
    return tl::unexpected(to_error(*refusal, operation::read));
  }
  if (stopped || broken || got.answer) count(what.verb, "200");
  if (stopped) return watch_end::stopped_by_handler;
  if (broken) return tl::unexpected(*broken);
  if (cancel) return fail(errc::canceled, "watch canceled");
  if (got.answer) return watch_end::closed_by_server;
  count(what.verb, word_of(got.answer.error()));
  return tl::unexpected(got.answer.error());
}

result<watch_end> http_client::watch(const resource_type& type, const watch_options& options,
                                     const std::atomic<bool>& cancel, const watch_handler& handler) {
  call what{.verb = "WATCH", .method = "GET", .kind = operation::read};
  if (options.metadata_only) what.accept = partial_type;
  BRAID_TRY(path, collection_path(type, options.namespace_name));
  what.target = with_query(std::move(path), {{"watch", "true"},
                                             {"allowWatchBookmarks", "true"},
                                             {"timeoutSeconds", std::to_string(options.timeout.count())},
                                             {"labelSelector", options.label_selector},
                                             {"fieldSelector", options.field_selector},
                                             {"resourceVersion", options.resource_version}});
  const auto start_by = io::system_clock().now() + state_->options.deadline;
  bool tried_token = false, tried_trust = false;
  for (int attempts = 1;; ++attempts) {
    const auto trust = state_->secrets.trust();
    std::optional<api_status> refusal;
    auto ended = state_->watch_once(what, options, cancel, handler, refusal);
    if (ended) return ended;
    // Only what was refused before it began is tried again here; the rest is for whoever knows the version to go on at.
    io::duration pause{};
    if (refusal && refusal->code == 401 && !tried_token) {
      tried_token = true;
      state_->secrets.token_was_refused();
    } else if (refusal && refusal->code == 429) {
      pause = refusal->retry_after ? io::duration(*refusal->retry_after) : state_->pause_after(attempts);
    } else if (ended.error().code == errc::tls && !tried_trust && state_->secrets.trust_was_wrong(*trust)) {
      tried_trust = true;
    } else {
      return ended;
    }
    if (io::system_clock().now() + pause >= start_by) return ended;
    // In short steps, for the sake of the caller's flag.
    for (const auto until = io::system_clock().now() + pause; io::system_clock().now() < until;) {
      const bool go_on = state_->stop.wait_for(std::min<io::duration>(100ms, until - io::system_clock().now()));
      if (cancel || !go_on) return fail(errc::canceled, "watch canceled");
    }
  }
}

void http_client::shut_down() {
  state_->stop.raise();
}

api_figures http_client::read_figures() const {
  std::lock_guard lock(state_->mutex);
  return state_->counts;
}

const client_config& http_client::config() const {
  return state_->config;
}

}  // namespace braidmq::k8s
