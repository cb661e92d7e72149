#include "reconcile/topic_survey.hpp"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace braidmq::reconcile {
namespace {

constexpr std::int32_t page_size = 250;
constexpr int max_pages = 4000;

// Troubles that the list of topics does not show and that pass by themselves.
constexpr std::array passing = {std::string_view("ClusterNotReady"), std::string_view("TopicVanished")};

bool is_as_told(const api::topic& topic, const admin_client::topic_info* there) {
  if (there == nullptr) return topic.topic_id.empty();
  // The log's index stands for partitions and configs, whatever they are.
  const auto* copies = k8s::find(topic.figures, {"replicationFactor"});
  return topic.topic_id == there->id && topic.metadata_index == static_cast<std::int64_t>(there->changed_index) &&
         copies != nullptr && *copies == there->replication_factor;
}

bool has_to_be_looked_at(const api::topic& topic, const admin_client::topic_info* there, bool broker_is_new) {
  if (topic.deleting) return topic.has_finalizer(api::topic_finalizer);
  if (topic.management == api::management::paused) return false;
  const auto* ready = api::find(topic.conditions, "Ready");
  if (ready == nullptr || ready->status == api::condition_status::unknown) return true;
  if (ready->status == api::condition_status::no) {
    if (ready->reason == "Conflict") return false;  // what frees it is another Topic's change
    if (broker_is_new || std::ranges::find(passing, ready->reason) != passing.end()) return true;
  }
  return !is_as_told(topic, there);
}

}  // namespace

result<std::vector<object_key>> topics_to_look_at(const caches& from, const object_key& cluster,
                                                  admin_client::client& broker, bool broker_is_new) {
  std::vector<object_key> found;
  const auto rows = topics_of(from, cluster);
  auto row = rows.begin();
  const auto look = [&](const admin_client::topic_info* there) {
    if (has_to_be_looked_at(**row, there, broker_is_new)) found.push_back((*row)->key);
    ++row;
  };
  // Both lists are in order of the names. A Topic that is taken for missing because the broker's is not costs a
  // question.
  std::string after;
  for (int pages = 0; row != rows.end(); ++pages) {
    BRAID_TRY(page, broker.topics(after, page_size));
    for (const auto& there : page.topics) {
      while (row != rows.end() && (*row)->topic_name < there.name) look(nullptr);
      while (row != rows.end() && (*row)->topic_name == there.name) look(&there);
    }
    if (!page.next) break;
    if (*page.next <= after || pages == max_pages)
      return fail(admin_client::errc::bad_answer, "a list of topics that does not end");
    after = std::move(*page.next);
  }
  while (row != rows.end()) look(nullptr);
  return found;
}

}  // namespace braidmq::reconcile
