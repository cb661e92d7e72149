#include "resources/identity.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/owned.hpp"

namespace braidmq::resources {

json identity_map(const api::braid_cluster& cluster, const identity& of) {
  auto object = object_head(api::config_map_type, cluster.key.namespace_name, identity_name(cluster.key.name),
                            cluster_labels(cluster), std::nullopt);
  object["data"] = {{"cluster.id", of.cluster_id},
                    {"braid.bootstrap", of.existing ? "existing" : "initial"},
                    {"pools", json(of.pools).dump()}};
  return object;
}

std::optional<identity> read_identity(const json& config_map) {
  std::vector<std::string> problems;
  const api::reader data(k8s::find(config_map, {"data"}), "data", problems);
  identity read;
  read.cluster_id = data.text("cluster.id");
  if (read.cluster_id.empty()) return std::nullopt;
  read.existing = data.text("braid.bootstrap") != "initial";  // in doubt never found again
  const auto pools = json::parse(data.text("pools", "{}"), nullptr, false);
  if (!pools.is_object()) return read;
  for (const auto& [name, index] : pools.items()) {
    if (index.is_number_integer() && index >= 0 && index < 1'000'000) read.pools[name] = index.get<int>();
  }
  return read;
}

bool number_pool(identity& of, const std::string& pool) {
  if (of.pools.contains(pool)) return false;
  int next = 0;
  for (const auto& [name, index] : of.pools) next = std::max(next, index + 1);
  of.pools[pool] = next;
  return true;
}

}  // namespace braidmq::resources
