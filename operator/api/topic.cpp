#include "api/topic.hpp"

#include <algorithm>
#include <limits>

namespace braidmq::api {
namespace {

constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

std::string cleanup_policy_of(const reader& spec) {
  constexpr std::string_view words[] = {"", "delete", "compact", "compact,delete"};
  return std::string(words[spec.choice("cleanupPolicy", {"", "delete", "compact", "both"}, 0)]);
}

// Typed fields win: the schema refuses a key that stands in both places, and the row notes it.
void read_configs(const reader& spec, topic& target) {
  target.configs = spec.texts_by_name("config");
  const auto put = [&target](std::string_view key, std::string value) {
    const auto place = std::ranges::lower_bound(target.configs, key, {},
                                                [](const auto& item) -> std::string_view { return item.first; });
    if (place != target.configs.end() && place->first == key) {
      target.twice.emplace_back(key);
      place->second = std::move(value);
    } else {
      target.configs.emplace(place, key, std::move(value));
    }
  };
  const auto retention = spec.object("retention");
  if (const auto ms = retention.optional_number("ms", -1, int64_max)) put("retention.ms", std::to_string(*ms));
  if (const auto bytes = retention.optional_number("bytes", -1, int64_max))
    put("retention.bytes", std::to_string(*bytes));
  if (const auto isr = spec.optional_number("minInSyncReplicas", 1, 100))
    put("min.insync.replicas", std::to_string(*isr));
  if (auto policy = cleanup_policy_of(spec); !policy.empty()) put("cleanup.policy", std::move(policy));
}

}  // namespace

const k8s::resource_type topic_type{std::string(group), std::string(version), "Topic", "topics"};

topic read_topic(const json& object) {
  topic target;
  read_row(object, target);
  const reader spec(k8s::find(object, {"spec"}), "spec", target.problems);
  target.cluster = spec.object("clusterRef").text("name");
  target.topic_name = spec.text("topicName", target.key.name);
  const auto narrow = [](std::optional<std::int64_t> wide) {
    return wide ? std::optional(static_cast<std::int32_t>(*wide)) : std::nullopt;
  };
  target.partitions = narrow(spec.optional_number("partitions", 1, 100'000));
  target.replication_factor = narrow(spec.optional_number("replicationFactor", 1, 100));
  read_configs(spec, target);
  target.management = static_cast<management>(spec.choice("management", {"Managed", "Observe", "Paused"}, 0));
  target.deletion_policy = static_cast<deletion_policy>(spec.choice("deletionPolicy", {"Retain", "Delete"}, 0));

  std::vector<std::string> ignored;  // of a status, which is ours
  target.topic_id = reader(k8s::find(object, {"status"}), "status", ignored).text("topicId");
  target.conditions = read_conditions(object);
  if (const auto* status = k8s::find(object, {"status"})) target.status_hash = hash_of_document(*status);
  return target;
}

}  // namespace braidmq::api
