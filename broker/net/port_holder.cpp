#include "net/port_holder.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <fmt/format.h>

#include "net/errc.hpp"
#include "net/resolve.hpp"

namespace braidmq::net {
namespace {

constexpr std::string_view tcp_listen_state = "0A";  // include/net/tcp_states.h

// Inodes of the sockets that listen on `port`.
std::set<std::string> listening_inodes(std::uint16_t port, const std::string& table) {
  std::set<std::string> inodes;
  std::ifstream lines(table);
  std::string line;
  std::getline(lines, line);  // headings
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state, queues, timer, retransmits, uid, timeout, inode;
    words >> number >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout >> inode;
    if (state != tcp_listen_state || !words) continue;
    if (local.substr(local.rfind(':') + 1) == fmt::format("{:04X}", port)) inodes.insert(inode);
  }
  return inodes;
}

bool holds_one_of(const std::filesystem::path& process, const std::set<std::string>& inodes) {
  std::error_code ignored;  // processes of other users, and those that end meanwhile
  for (std::filesystem::directory_iterator fd(process / "fd", ignored), end; fd != end; fd.increment(ignored)) {
    const auto target = std::filesystem::read_symlink(fd->path(), ignored).string();
    constexpr std::string_view prefix = "socket:[";
    if (target.starts_with(prefix) &&
        inodes.contains(target.substr(prefix.size(), target.size() - prefix.size() - 1))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::string> find_port_holder(std::uint16_t port, const std::string& root) {
  auto inodes = listening_inodes(port, root + "/proc/net/tcp");
  inodes.merge(listening_inodes(port, root + "/proc/net/tcp6"));
  if (inodes.empty()) return std::nullopt;
  std::error_code ignored;
  for (std::filesystem::directory_iterator process(root + "/proc", ignored), end; process != end;
       process.increment(ignored)) {
    const auto id = process->path().filename().string();
    if (!std::ranges::all_of(id, [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
    if (!holds_one_of(process->path(), inodes)) continue;
    std::string name = "?";
    std::ifstream(process->path() / "comm") >> name;
    return fmt::format("process {} ({})", id, name);
  }
  return std::nullopt;
}

std::optional<std::uint16_t> next_free_port(const std::string& host, std::uint16_t after) {
  constexpr unsigned tries = 100;
  for (unsigned port = after + 1U; port <= 65535 && port <= after + tries; ++port) {
    const auto at = resolve_to_listen({.host = host, .port = static_cast<std::uint16_t>(port)});
    if (!at) return std::nullopt;
    asio::io_context context;
    asio::ip::tcp::acceptor probe(context);
    std::error_code code;
    probe.open(at->protocol(), code);
    if (!code) probe.set_option(asio::ip::tcp::acceptor::reuse_address(true), code);
    if (!code) probe.bind(*at, code);
    if (!code) probe.listen(1, code);  // two sockets may be bound with SO_REUSEADDR; only one may listen
    if (!code) return static_cast<std::uint16_t>(port);
  }
  return std::nullopt;
}

error address_in_use(const io::endpoint& wanted) {
  const auto holder = find_port_holder(wanted.port);
  const auto free = next_free_port(wanted.host, wanted.port);
  return {make_error_code(errc::address_in_use),
          fmt::format("cannot listen on {}: {} listens there{}", wanted.to_string(),
                      holder.value_or("a process that this user may not see"),
                      free ? fmt::format("; {} is free", *free) : std::string())};
}

}  // namespace braidmq::net
