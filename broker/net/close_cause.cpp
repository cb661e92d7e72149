#include "net/close_cause.hpp"

namespace braidmq::net {

std::string_view to_string(close_cause cause) {
  switch (cause) {
    case close_cause::peer_closed:
      return "peer_closed";
    case close_cause::bad_frame_length:
      return "bad_frame_length";
    case close_cause::frame_too_large:
      return "frame_too_large";
    case close_cause::foreign_protocol:
      return "foreign_protocol";
    case close_cause::frame_timeout:
      return "frame_timeout";
    case close_cause::idle:
      return "idle";
    case close_cause::handler_error:
      return "handler_error";
    case close_cause::write_failed:
      return "write_failed";
    case close_cause::write_timeout:
      return "write_timeout";
    case close_cause::stopped:
      return "stopped";
    case close_cause::too_many:
      return "too_many";
    case close_cause::too_many_of_ip:
      return "too_many_of_ip";
  }
  return "unknown";
}

}  // namespace braidmq::net
