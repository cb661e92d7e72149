// Host and port as people write them: "127.0.0.1:9092", "[::1]:9092", "broker-0.svc:9092", ":9092" (all addresses).
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace braidmq::io {

struct endpoint {
  std::string host;        // without brackets; empty: all addresses of this machine
  std::uint16_t port = 0;  // 0: any free one, to listen on

  friend auto operator<=>(const endpoint&, const endpoint&) = default;

  std::string to_string() const;  // IPv6 in brackets
};

// bad_address, with words, for anything else than host:port. Does not resolve names.
result<endpoint> parse_endpoint(std::string_view text);

}  // namespace braidmq::io
