#include "io/endpoint.hpp"

#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "io/errc.hpp"

namespace braidmq::io {

std::string endpoint::to_string() const {
  if (host.find(':') != std::string::npos) return fmt::format("[{}]:{}", host, port);
  return fmt::format("{}:{}", host, port);
}

result<endpoint> parse_endpoint(std::string_view text) {
  const auto refuse = [text](std::string_view why) {
    return fail(errc::bad_address, fmt::format("\"{}\": {}", text, why));
  };
  std::string_view host;
  std::string_view port;
  if (text.starts_with('[')) {
    const auto end = text.find("]:");
    if (end == std::string_view::npos) return refuse("an IPv6 address needs the form [address]:port");
    host = text.substr(1, end - 1);
    port = text.substr(end + 2);
  } else {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return refuse("the port is missing, as in host:9092");
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (host.find(':') != std::string_view::npos) return refuse("an IPv6 address needs the form [address]:port");
  }
  if (host.find_first_of(" \t\r\n/[]\"'") != std::string_view::npos) return refuse("this is not a host name");
  unsigned number = 0;
  const auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() || code != std::errc{} || end != port.data() + port.size() || number > 65535) {
    return refuse("the port must be a number from 0 to 65535");
  }
  return endpoint{.host = std::string(host), .port = static_cast<std::uint16_t>(number)};
}

}  // namespace braidmq::io
