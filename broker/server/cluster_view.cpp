#include "server/cluster_view.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;

constexpr std::int16_t last_version_without_unavailable = 0;  // Metadata 0 knows no offline replicas: they are left out
constexpr std::int16_t first_version_with_listener_error = 6;

}  // namespace

model::broker_id cluster_view::leader_of(const multiraft::office& of) {
  return of.leader.is_none() ? model::no_broker : model::broker_id(of.leader.broker);
}

model::broker_id cluster_view::leader() const {
  const model::broker_id known = leader_of(braid);
  return known == self && !braid.serves ? model::no_broker : known;
}

// Every partition begins in its braid with epoch base 0, so that the braid's term is the epoch of all of them. When
// partitions move between braids, their bases come to be known here with their slots.
model::leader_epoch cluster_view::epoch() const {
  BRAID_CHECK(braid.term.value() <= static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()));
  return model::leader_epoch(static_cast<std::int32_t>(braid.term.value()));
}

std::optional<cluster_node> cluster_view::find(model::broker_id broker) const {
  if (broker == self) {
    if (!own) return std::nullopt;
    return cluster_node{self, own->host, own->port, own_rack, true};
  }
  const auto found = image->brokers().find(broker);
  if (found == image->brokers().end()) return std::nullopt;
  const metadata::advertised_listener* address = found->second.find(listener);
  if (address == nullptr) return std::nullopt;
  return cluster_node{broker, address->host, address->port, found->second.rack, is_alive(broker)};
}

std::vector<cluster_node> cluster_view::nodes() const {
  std::vector<cluster_node> all;
  for (const auto& [id, registration] : image->brokers()) {
    if (auto node = find(id)) all.push_back(std::move(*node));
  }
  // Before its own registration is in the log a broker is known to itself.
  if (!image->brokers().contains(self)) {
    if (auto node = find(self)) {
      all.insert(std::ranges::upper_bound(all, self, {}, &cluster_node::id), std::move(*node));
    }
  }
  return all;
}

std::vector<std::string> cluster_view::roles_of(model::broker_id broker) const {
  std::vector<std::string> roles;
  if (broker == controller_id()) roles.emplace_back("controller");
  if (broker == leader())
    roles.emplace_back("leader");
  else if (std::ranges::find(voters, broker) != voters.end())
    roles.emplace_back("replica");
  return roles;
}

leadership cluster_view::of_partitions(std::int16_t metadata_version) const {
  leadership said;
  said.epoch = epoch();
  const model::broker_id known = leader();
  std::vector<model::broker_id> here;
  for (const model::broker_id voter : voters) {
    const auto node = find(voter);
    // This broker replicates, whether or not the listener has an address.
    const bool is_here = voter == self || (node && node->alive);
    (is_here ? here : said.offline).push_back(voter);
  }
  said.in_sync = here;
  said.replicas = metadata_version <= last_version_without_unavailable ? here : voters;
  const bool is_registered = known == self ? known != model::no_broker : image->brokers().contains(known);
  const auto node = known == model::no_broker ? std::nullopt : find(known);
  if (node && node->alive) {
    said.leader = known;
    if (said.replicas.size() < voters.size()) said.error = error_code::replica_not_available;
  } else if (!node && is_registered && metadata_version >= first_version_with_listener_error) {
    said.error = error_code::listener_not_found;
  } else {
    said.error = error_code::leader_not_available;
  }
  return said;
}

std::optional<model::broker_id> cluster_view::preferred_replica(const std::string& rack) const {
  if (rack.empty() || own_rack == rack || leader() != self) return std::nullopt;
  for (const model::broker_id voter : voters) {
    if (voter == self) continue;
    const auto node = find(voter);
    if (node && node->alive && node->rack == rack) return voter;
  }
  return std::nullopt;
}

}  // namespace braidmq::server
