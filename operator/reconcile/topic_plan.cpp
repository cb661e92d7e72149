#include "reconcile/topic_plan.hpp"

#include <fmt/format.h>

namespace braidmq::reconcile {
namespace {

// No field given: what the schema says when it has not been applied.
constexpr std::int32_t default_partitions = 1;

topic_plan plan_creation(const api::topic& wanted) {
  topic_plan plan;
  plan.next = topic_plan::step::create;
  plan.creation.name = wanted.topic_name;
  plan.creation.partitions = wanted.partitions.value_or(default_partitions);
  plan.creation.replication_factor = wanted.replication_factor.value_or(-1);
  for (const auto& [key, value] : wanted.configs) plan.creation.configs[key] = value;
  return plan;
}

void plan_configs(const api::topic& wanted, const admin_client::topic_info& there, topic_plan& plan) {
  for (const auto& [key, value] : wanted.configs) {
    const auto now = there.configs.find(key);
    if (now != there.configs.end() && now->second == value) continue;
    plan.change.configs[key] = value;
    plan.words.push_back(fmt::format("{} = {}", key, value));
  }
  for (const auto& [key, value] : there.configs) {
    if (api::find(wanted.configs, key) != nullptr) continue;
    plan.change.configs[key] = std::nullopt;
    plan.words.push_back(fmt::format("{} back to its default", key));
  }
}

}  // namespace

topic_plan plan_topic(const api::topic& wanted, const admin_client::topic_info* there) {
  if (there == nullptr) return plan_creation(wanted);
  topic_plan plan;
  plan.change.name = wanted.topic_name;
  plan.change.id = there->id;
  const auto partitions = wanted.partitions.value_or(default_partitions);
  if (partitions > there->partitions) {
    plan.change.partitions = partitions;
    plan.words.push_back(fmt::format("partitions from {} to {}", there->partitions, partitions));
  } else if (partitions < there->partitions) {
    plan.impossible =
        problem{"PartitionsCannotShrink",
                fmt::format("the topic has {} partitions and spec.partitions is {}: partitions cannot be taken "
                            "away; set spec.partitions to {}",
                            there->partitions, partitions, there->partitions)};
  }
  if (wanted.replication_factor && *wanted.replication_factor != there->replication_factor) {
    plan.impossible =
        problem{"ReplicationFactorCannotChange",
                fmt::format("the topic has {} copies and spec.replicationFactor is {}: set it to {}, or leave "
                            "it out",
                            there->replication_factor, *wanted.replication_factor, there->replication_factor)};
  }
  plan_configs(wanted, *there, plan);
  if (!plan.words.empty()) plan.next = topic_plan::step::change;
  return plan;
}

}  // namespace braidmq::reconcile
