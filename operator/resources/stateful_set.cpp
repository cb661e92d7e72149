#include "resources/stateful_set.hpp"

#include <nlohmann/json.hpp>

#include "api/owned.hpp"
#include "resources/compare.hpp"

namespace braidmq::resources {
namespace {

json claim_template(const api::braid_cluster& cluster, const api::braid_pool& pool, const std::string& name,
                    const api::volume_claim& wanted, const pod_inputs& inputs) {
  json spec = {{"accessModes", {"ReadWriteOnce"}},
               {"volumeMode", "Filesystem"},
               {"resources", {{"requests", {{"storage", wanted.size}}}}}};
  if (wanted.storage_class) spec["storageClassName"] = *wanted.storage_class;
  json annotations = {{cluster_id_annotation, inputs.cluster_id}};
  // What the identity says stands with the data, too: it must be found again when all else is lost.
  if (has_peers(inputs.voters)) annotations[std::string(voters_annotation)] = voters_text(inputs.voters);
  return {
      {"apiVersion", "v1"},
      {"kind", "PersistentVolumeClaim"},
      {"metadata", {{"name", name}, {"labels", pool_labels(cluster, pool)}, {"annotations", std::move(annotations)}}},
      {"spec", std::move(spec)}};
}

}  // namespace

json stateful_set(const api::braid_cluster& cluster, const api::braid_pool& pool, const pod_inputs& inputs) {
  auto object = object_head(api::stateful_set_type, pool.key.namespace_name, pool.key.name, pool_labels(cluster, pool),
                            owner_reference(api::pool_type, pool));
  auto pods = pod_template(cluster, pool, inputs);
  pods["metadata"]["annotations"][revision_annotation] = revision_of(pods);
  json claims = json::array({claim_template(cluster, pool, "data", pool.storage, inputs)});
  if (pool.wal_storage) claims.push_back(claim_template(cluster, pool, "wal", *pool.wal_storage, inputs));
  object["spec"] = {{"replicas", pool.replicas},
                    {"serviceName", peer_service_name(cluster.key.name)},
                    {"podManagementPolicy", "Parallel"},
                    {"updateStrategy", {{"type", "OnDelete"}}},
                    {"persistentVolumeClaimRetentionPolicy", {{"whenDeleted", "Retain"}, {"whenScaled", "Retain"}}},
                    {"selector", {{"matchLabels", pool_selector(cluster, pool)}}},
                    {"template", std::move(pods)},
                    {"volumeClaimTemplates", std::move(claims)}};
  seal(object);
  return object;
}

}  // namespace braidmq::resources
