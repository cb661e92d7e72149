// How a call of the Kafka protocol failed before the broker could say anything. What a broker says is in its response,
// as protocol::error_code.
#pragma once

#include <system_error>

namespace braidmq::kafka_client {

enum class errc {
  unreachable = 1,  // no connection: refused, name not resolved
  timed_out,        // no whole answer in time, or the connection ended: whether something was written is unknown
  bad_answer,       // not an answer of a broker, or a larger one than allowed
  unsupported,      // the broker does not speak a version of the API that is needed, or lacks the feature
  invalid_request,  // refused here, nothing was sent
  refused,          // the broker said no to all that was asked: the words say why
};

std::error_code make_error_code(errc code);

}  // namespace braidmq::kafka_client

template <>
struct std::is_error_code_enum<braidmq::kafka_client::errc> : std::true_type {};
