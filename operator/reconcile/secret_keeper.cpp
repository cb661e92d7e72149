#include "reconcile/secret_keeper.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reconcile/write.hpp"
#include "resources/secret.hpp"

namespace braidmq::reconcile {
namespace {

object_key secret_key(const object_key& cluster) {
  return {cluster.namespace_name, resources::secret_name(cluster.name)};
}

result<std::string> usable(const json& object, const object_key& key) {
  if (auto secret = resources::read_secret(object)) return std::move(*secret);
  return fail(
      write_errc::name_taken,
      fmt::format("Secret {} holds no line of 32 characters or more under the key \"{}\": put one there, or delete "
                  "the Secret and a new one is made",
                  key.to_string(), resources::secret_key));
}

}  // namespace

status keep_secret(environment& env, const api::braid_cluster& cluster) {
  const auto key = secret_key(cluster.key);
  auto live = env.api.get(api::secret_type, key);
  if (live) {
    return just_status(usable(*live, key));
  }
  if (live.error().code != k8s::errc::not_found) return tl::unexpected(live.error());
  const auto made =
      env.api.create(api::secret_type, resources::secret(cluster, env.random), std::string(field_manager));
  // Made by a pass whose answer was lost.
  if (!made && made.error().code != k8s::errc::already_exists) return tl::unexpected(made.error());
  return {};
}

result<std::string> read_cluster_secret(k8s::client& api, const object_key& cluster) {
  const auto key = secret_key(cluster);
  BRAID_TRY(object, api.get(api::secret_type, key));
  return usable(object, key);
}

}  // namespace braidmq::reconcile
