// How a call of a broker's HTTP API failed. What the broker refused carries the name of the API, which is Kafka's where
// Kafka has one; error::message holds the broker's words, which say what to do.
#pragma once

#include <string_view>
#include <system_error>

namespace braidmq::admin_client {

enum class errc {
  unreachable = 1,  // no connection: refused, name not resolved, TLS
  timed_out,        // connected, and no whole answer (in time): whether a change was made is unknown
  bad_answer,  // not HTTP, not JSON, too large, or without a member that must be there: not a broker, or another API
  // What the broker said, by the name in "error".
  unknown_topic_or_partition,    // 404
  topic_already_exists,          // 409
  unknown_topic_id,              // 409: the topic has another id than the precondition says
  invalid_topic_exception,       // 422
  invalid_partitions,            // 422
  invalid_replication_factor,    // 422
  invalid_config,                // 422
  invalid_request,               // 400
  cluster_authorization_failed,  // 401, 403: wrong secret, none sent, or none configured
  not_controller,                // 503: try again, later or at another broker
  request_timed_out,             // 504: the outcome is unknown
  not_found,                     // 404 for something else than a topic
  conflict,                      // 409 for something else than a topic
  refused,                       // the broker failed, or said a name that this version does not know
};

std::error_code make_error_code(errc code);

// "TOPIC_ALREADY_EXISTS"; empty for those that no broker says. The code of a name: refused when it is unknown,
// bad_answer when it is empty.
std::string_view wire_name(errc code);
errc errc_of(std::string_view wire_name);

// The status of HTTP that goes with it; 0 for those that no broker says.
int http_status(errc code);

// Whether the same call may succeed later without a change of what it asks for.
bool is_transient(errc code);

}  // namespace braidmq::admin_client

template <>
struct std::is_error_code_enum<braidmq::admin_client::errc> : std::true_type {};
