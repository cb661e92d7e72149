#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admin_client/codec.hpp"
#include "ctl/commands.hpp"
#include "ctl/output.hpp"
#include "io/endpoint.hpp"

namespace braidmq::ctl {
namespace {

std::string number_or_none(std::int32_t id) {
  return id < 0 ? "none" : std::to_string(id);
}

template <class T, class Text>
std::string joined(const std::vector<T>& all, Text text_of) {
  std::string out;
  for (const T& one : all) out += (out.empty() ? "" : ",") + text_of(one);
  return out.empty() ? "-" : out;
}

std::string brokers_table(const admin_client::cluster_info& cluster) {
  std::vector<std::vector<std::string>> rows{{"BROKER", "STATE", "ROLES", "RACK", "INCARNATION", "LISTENERS"}};
  for (const auto& one : cluster.brokers) {
    std::string state = one.alive ? "alive" : "unknown";
    if (one.draining) state = "draining";
    rows.push_back({std::to_string(one.id), state,
                    joined(one.roles, [](const std::string& role) { return printable(role); }),
                    one.rack.empty() ? "-" : printable(one.rack), printable(one.incarnation),
                    joined(one.listeners, [](const admin_client::listener_info& listener) {
                      return printable(fmt::format("{}://{}", listener.name,
                                                   io::endpoint{listener.host, listener.port}.to_string()));
                    })});
  }
  return table(rows);
}

std::string braids_table(const admin_client::cluster_info& cluster) {
  std::vector<std::vector<std::string>> rows{
      {"BRAID", "LEADER", "TERM", "COMMIT", "APPLIED", "VISIBLE", "REPLICAS", "MATCH"}};
  for (const auto& one : cluster.braids) {
    rows.push_back(
        {std::to_string(one.id), number_or_none(one.leader), std::to_string(one.term), std::to_string(one.commit_index),
         std::to_string(one.applied_index), std::to_string(one.visible_index),
         joined(one.replicas, [](std::int32_t id) { return std::to_string(id); }),
         joined(one.peers, [](const admin_client::peer_info& peer) {
           return fmt::format("{}:{}{}", peer.id, peer.match_index, peer.needs_snapshot ? " (needs a snapshot)" : "");
         })});
  }
  return table(rows);
}

}  // namespace

int show_cluster(context& with) {
  auto client = with.connect(call_timeout);
  if (!client) return refuse(with, client.error());
  const auto cluster = (*client)->cluster();
  if (!cluster) return refuse(with, cluster.error());
  if (with.as == format::json) {
    with.out << pretty(admin_client::to_json(*cluster));
    return exit_good;
  }
  with.out << table({{"CLUSTER", "CONTROLLER", "METADATA", "REPLICATION", "VERSION"},
                     {cluster->cluster_id.empty() ? "not founded" : printable(cluster->cluster_id),
                      number_or_none(cluster->controller_id), std::to_string(cluster->metadata_index),
                      std::to_string(cluster->replication_factor), printable(cluster->version)}})
           << "\n"
           << brokers_table(*cluster) << "\n"
           << braids_table(*cluster);
  return exit_good;
}

}  // namespace braidmq::ctl
