#include "reconcile/claims.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "k8s/list_page.hpp"
#include "resources/names.hpp"

namespace braidmq::reconcile {
namespace {

constexpr int max_pages = 100;
constexpr int max_named = 5;

result<std::vector<api::claim>> list_claims(environment& env, const std::string& namespace_name,
                                            const std::string& selector) {
  std::vector<api::claim> all;
  k8s::list_options options{.namespace_name = namespace_name, .label_selector = selector, .metadata_only = true};
  for (int page_number = 0; page_number < max_pages; ++page_number) {
    BRAID_TRY(page, env.api.list(api::claim_type, options));
    for (const auto& item : page.items) all.push_back(api::read_claim_metadata(item));
    if (page.continue_token.empty()) return all;
    options.continue_token = page.continue_token;
  }
  return fail(k8s::errc::bad_response, "a list of PersistentVolumeClaims that does not end");
}

std::string cluster_id_of(const api::claim& claim) {
  const auto* id = api::find(claim.annotations, resources::cluster_id_annotation);
  return id == nullptr ? std::string() : *id;
}

}  // namespace

result<std::vector<api::claim>> delete_claims(environment& env, const std::string& namespace_name,
                                              const std::string& selector, const std::string& cluster_id) {
  BRAID_TRY(claims, list_claims(env, namespace_name, selector));
  // Another life's data stay.
  std::erase_if(claims, [&](const auto& one) { return cluster_id.empty() || cluster_id_of(one) != cluster_id; });
  for (const auto& claim : claims) {
    if (claim.deleting) continue;
    BRAID_TRY_VOID(
        env.api.remove(api::claim_type, claim.key, {.uid = claim.uid, .resource_version = claim.resource_version}));
  }
  return std::move(claims);
}

result<found_claims> find_claims(environment& env, const object_key& cluster) {
  BRAID_TRY(claims, list_claims(env, cluster.namespace_name, cluster_selector_text(cluster.name)));
  found_claims found;
  for (const auto& claim : claims) {
    if (claim.deleting) continue;
    found.any = true;
    if (found.cluster_id.empty()) found.cluster_id = cluster_id_of(claim);
  }
  constexpr std::string_view data = "data-";
  for (const auto& claim : claims) {
    if (claim.deleting || found.cluster_id.empty() || cluster_id_of(claim) != found.cluster_id) continue;
    const auto* voters = api::find(claim.annotations, resources::voters_annotation);
    if (voters != nullptr && found.voters.empty()) found.voters = *voters;
    if (claim.key.name.starts_with(data)) found.pods.push_back(claim.key.name.substr(data.size()));
  }
  std::ranges::sort(found.pods);
  return found;
}

result<std::vector<api::row>> live_pods(environment& env, const std::string& namespace_name,
                                        const std::string& selector) {
  BRAID_TRY(page, env.api.list(api::pod_type, {.namespace_name = namespace_name,
                                               .label_selector = selector,
                                               .limit = max_named,
                                               .metadata_only = true}));
  std::vector<api::row> pods;
  for (const auto& item : page.items) pods.push_back(api::read_metadata(item));
  return pods;
}

std::string cluster_selector_text(const std::string& cluster) {
  return fmt::format("app.kubernetes.io/name=braidmq,{}={}", resources::cluster_label, cluster);
}

std::string pool_selector_text(const std::string& cluster, const std::string& pool) {
  return fmt::format("{},{}={}", cluster_selector_text(cluster), resources::pool_label, pool);
}

}  // namespace braidmq::reconcile
