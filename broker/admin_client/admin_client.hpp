// A typed client of one broker's HTTP API (port 9644), for the operator and braidctl. The interface is what users hold,
// so that tests give them another one; connect() makes the one that speaks HTTP.
//
// Threads: an object serves one call at a time; make one per thread. Calls block, bounded by client_options::timeout
// for connecting and for each whole answer (drain and topic changes: their own time on top). Nothing is retried here.
// Errors: admin_client::errc. Answers may hold members that this version does not know: they are ignored.
// Source: broker/docs/http-api.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin_client/errc.hpp"
#include "admin_client/types.hpp"
#include "base/result.hpp"

namespace braidmq::admin_client {

class client {
 public:
  virtual ~client() = default;

  virtual result<cluster_info> cluster() = 0;
  virtual result<readiness> ready() = 0;  // /readyz

  // Up to `limit` (1 to 1000) topics whose names come after `after`; empty: from the first.
  virtual result<topic_page> topics(const std::string& after, std::int32_t limit) = 0;
  virtual result<topic_info> topic(const std::string& name) = 0;
  // Answered when the topic can be used. With validate_only nothing is made and id and indexes are empty.
  virtual result<topic_info> create_topic(const topic_creation& wanted) = 0;
  virtual result<topic_info> change_topic(const topic_change& wanted) = 0;
  // `id`: precondition, as in topic_change.
  virtual status delete_topic(const std::string& name, const std::optional<std::string>& id) = 0;

  // Begins draining and waits for its end, up to `timeout`; asked again it waits again.
  virtual result<drain_state> drain(std::chrono::milliseconds timeout) = 0;
  virtual result<drain_state> drain_status() = 0;

  // Tells a broker under which address clients reach one of its listeners (`braid.advertised.pushed`). Idempotent.
  virtual status set_listener(const listener_info& listener) = 0;
};

struct client_options {
  std::string url = "http://127.0.0.1:9644";  // http://host:port, IPv6 in brackets
  // Asked before each change, so that a rotated secret is used at once; its secret goes out as a bearer token. None or
  // an empty one: no token is sent.
  std::function<result<std::string>()> secret;
  std::chrono::milliseconds timeout = std::chrono::seconds(5);
  std::size_t max_body_bytes = std::size_t{64} << 20U;  // of an answer: 1000 topics with configs are a few MiB
};

// errc::invalid_request when the URL cannot be read. Nothing is connected yet.
result<std::unique_ptr<client>> connect(client_options options);

// The first secret (a line) of a file as `braid.secret.file` names one, read at each call.
std::function<result<std::string>()> secret_from_file(std::string path);

// All pages of topics(), at most `max_topics` (then bad_answer: a broker that never ends its list is none).
result<std::vector<topic_info>> all_topics(client& of, std::size_t max_topics = 1'000'000);

}  // namespace braidmq::admin_client
