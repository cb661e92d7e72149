#include "net/resolve.hpp"

#include <asio/io_context.hpp>
#include <fmt/format.h>

#include "net/errc.hpp"

namespace braidmq::net {
namespace {

bool has_ipv6() {
  asio::io_context context;
  asio::ip::tcp::acceptor probe(context);
  std::error_code code;
  probe.open(asio::ip::tcp::v6(), code);
  if (!code) probe.bind({asio::ip::tcp::v6(), 0}, code);
  return !code;
}

}  // namespace

result<asio::ip::tcp::endpoint> resolve_to_listen(const io::endpoint& wanted) {
  if (wanted.host.empty()) {
    return asio::ip::tcp::endpoint(has_ipv6() ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), wanted.port);
  }
  asio::io_context context;
  asio::ip::tcp::resolver resolver(context);
  std::error_code code;
  const auto found =
      resolver.resolve(wanted.host, std::to_string(wanted.port),
                       asio::ip::tcp::resolver::passive | asio::ip::tcp::resolver::numeric_service, code);
  if (code || found.empty()) {
    return fail(errc::bad_address, fmt::format("cannot resolve {}: {}", wanted.to_string(), code.message()));
  }
  return found.begin()->endpoint();
}

}  // namespace braidmq::net
