#include "config/voters.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "config/errc.hpp"
#include "config/list_text.hpp"

namespace braidmq::config {
namespace {

constexpr std::size_t most_voters = 15;  // of a Raft group here

using addresses = std::map<std::int32_t, io::endpoint>;

status add_voter(std::string_view text, addresses& to) {
  const auto refuse = [text](std::string_view why) {
    return fail(errc::bad_value, fmt::format("voter \"{}\": {}", text, why));
  };
  const auto at = text.find('@');
  std::int32_t id = -1;
  const auto read = std::from_chars(text.data(), text.data() + std::min(at, text.size()), id);
  if (at == std::string_view::npos || read.ec != std::errc{} || read.ptr != text.data() + at || id < 0) {
    return refuse("needs the form ID@host:port");
  }
  const auto where = io::parse_endpoint(text.substr(at + 1));
  if (!where) return refuse(where.error().message);
  if (where->host.empty() || where->port == 0) return refuse("others must be able to connect to the host and port");
  for (const auto& [other, address] : to) {
    if (other == id) return refuse(fmt::format("broker {} is given twice", id));
    if (address == *where) return refuse(fmt::format("broker {} has the same address", other));
  }
  to.emplace(id, *where);
  return {};
}

result<addresses> parse_addresses(std::string_view text) {
  addresses found;
  for (const std::string_view one : split_list(text)) BRAID_TRY_VOID(add_voter(one, found));
  return found;
}

}  // namespace

result<std::vector<voter>> parse_voters(std::string_view metadata, std::string_view braid, std::uint16_t braid_port) {
  BRAID_TRY(quorum, parse_addresses(metadata));
  BRAID_TRY(data, parse_addresses(braid));
  if (quorum.size() > most_voters || (!quorum.empty() && quorum.size() % 2 == 0)) {
    return fail(errc::bad_value,
                fmt::format("{} voters: take an odd number up to {}; of an even one, one more has to be there for the "
                            "same safety",
                            quorum.size(), most_voters));
  }
  const bool is_derived = data.empty();
  std::vector<voter> voters;
  for (const auto& [broker, address] : quorum) {
    if (is_derived) {
      voters.push_back({broker, address, {address.host, braid_port}});
      continue;
    }
    const auto found = data.find(broker);
    if (found == data.end()) {
      return fail(errc::bad_value, fmt::format("braid.voters lacks broker {} of controller.quorum.voters", broker));
    }
    voters.push_back({broker, address, found->second});
    data.erase(found);
  }
  if (!data.empty()) {
    return fail(errc::bad_value,
                fmt::format("controller.quorum.voters lacks broker {} of braid.voters", data.begin()->first));
  }
  for (std::size_t i = 1; i < voters.size() && is_derived; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (voters[i].braid != voters[j].braid) continue;
      return fail(errc::bad_value, fmt::format("brokers {} and {} are on one host: say in braid.voters which ports "
                                               "they have",
                                               voters[j].broker, voters[i].broker));
    }
  }
  return voters;
}

}  // namespace braidmq::config
