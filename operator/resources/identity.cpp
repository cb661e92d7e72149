#include "resources/identity.hpp"

#include <nlohmann/json.hpp>

#include "api/owned.hpp"

namespace braidmq::resources {

json identity_map(const api::braid_cluster& cluster, const identity& of) {
  auto object = object_head(api::config_map_type, cluster.key.namespace_name, identity_name(cluster.key.name),
                            cluster_labels(cluster), std::nullopt);
  object["data"] = {{"cluster.id", of.cluster_id}, {"braid.bootstrap", of.existing ? "existing" : "initial"}};
  if (!of.voters.empty()) object["data"][voters_key] = voters_text(of.voters);
  return object;
}

std::optional<identity> read_identity(const json& config_map) {
  std::vector<std::string> problems;
  const api::reader data(k8s::find(config_map, {"data"}), "data", problems);
  identity read;
  read.cluster_id = data.text("cluster.id");
  if (read.cluster_id.empty()) return std::nullopt;
  read.existing = data.text("braid.bootstrap") != "initial";  // in doubt never found again
  const auto voters = data.text(voters_key);
  if (voters.empty()) return read;
  auto listed = parse_voters(voters);
  if (!listed) return std::nullopt;
  read.voters = std::move(*listed);
  return read;
}

}  // namespace braidmq::resources
