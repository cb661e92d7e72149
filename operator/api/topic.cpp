#include "api/topic.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace braidmq::api {
namespace {

// A key that has a field of its own: the field wins, and the row notes it (the schema refuses both at once).
void put_config(topic& target, std::string_view key, std::string value) {
  const auto first = [](const auto& item) -> std::string_view { return item.first; };
  const auto place = std::ranges::lower_bound(target.configs, key, {}, first);
  if (place != target.configs.end() && place->first == key) {
    target.problems.push_back(fmt::format("spec.config: {} has a field of its own", key));
    place->second = std::move(value);
  } else {
    target.configs.emplace(place, key, std::move(value));
  }
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
  target.configs = spec.texts_by_name("config");
  if (const auto isr = spec.optional_number("minInSyncReplicas", 1, 100))
    put_config(target, "min.insync.replicas", std::to_string(*isr));
  target.management = static_cast<management>(spec.choice("management", {"Managed", "Observe", "Paused"}, 0));
  target.deletion_policy = static_cast<deletion_policy>(spec.choice("deletionPolicy", {"Retain", "Delete"}, 0));

  std::vector<std::string> ignored;  // of a status, which is ours
  const reader status(k8s::find(object, {"status"}), "status", ignored);
  target.topic_id = status.text("topicId");
  target.metadata_index = status.number("metadataIndex", 0, 0, std::numeric_limits<std::int64_t>::max());
  target.conditions = read_conditions(object);
  if (const auto* whole = k8s::find(object, {"status"}); whole != nullptr && whole->is_object()) {
    target.status_hash = hash_of_document(*whole);
    target.figures = json::object();
    for (const char* name : {"topicId", "metadataIndex", "partitions", "replicationFactor", "config"}) {
      if (const auto found = whole->find(name); found != whole->end()) target.figures[name] = *found;
    }
  }
  return target;
}

}  // namespace braidmq::api
