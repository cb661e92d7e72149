// Errors of sockets and listeners.
#pragma once

#include <system_error>

namespace braidmq::net {

enum class errc {
  bad_address = 1,  // an address that cannot be resolved
  address_in_use,   // another process listens there; the message names it and a free port
  not_reachable,    // connect or bind failed
  timed_out,
  dropped,  // a request was destroyed by its handler without an answer
};

std::error_code make_error_code(errc code);

}  // namespace braidmq::net

template <>
struct std::is_error_code_enum<braidmq::net::errc> : std::true_type {};
