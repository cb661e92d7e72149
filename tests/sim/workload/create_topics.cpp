// Makes topics: new ones, and such as are there already or are being made by another client.
#include "protocol/generated/create_topics.hpp"

#include "workload/client.hpp"

namespace braidmq::sim {
namespace {

constexpr std::size_t most_topics = 5;
constexpr std::int16_t first_version_that_tells_ids = 7;

class topic_creator final : public client {
 public:
  topic_creator(workload_context& context, rng chance) : client(context, "creator", chance) {}

 private:
  void on_turn() override {
    if (in_flight() >= 2) return;
    const bool none_yet = any_lasting_topic() == nullptr;
    if (!none_yet && chance().chance(0.9)) return;
    if (!take_operation()) return;
    auto& names = context().topics.names;
    const bool again = !names.empty() && (names.size() >= most_topics || chance().chance(0.5));
    const std::string name = again ? names[chance().below(names.size())] : fmt::format("topic.{}", names.size());
    if (!again) names.push_back(name);
    const std::int16_t version = chance().chance(0.7) ? std::int16_t{7} : any_version(2, 7);
    const auto partitions = static_cast<std::int32_t>(chance().chance(0.2) ? -1 : chance().between(1, 3));
    protocol::create_topics_request request;
    request.timeout_ms = static_cast<std::int32_t>(chance().chance(0.2) ? chance().between(1, 100) : 30'000);
    request.validate_only = chance().chance(0.05);
    auto& topic = request.topics.emplace_back();
    topic.name = name;
    topic.num_partitions = partitions;
    topic.replication_factor = -1;
    send(request, version, [this, name, version, validate = request.validate_only](const result<bytes>& body) {
      take(name, body, version, validate);
    });
  }

  void take(const std::string& name, const result<bytes>& body, std::int16_t version, bool validate_only) {
    if (!body) return;
    const auto response = protocol::create_topics_response::decode(*body, version);
    if (!response || response->topics.size() != 1 || response->topics.front().name != name) {
      return log().violation("protocol", "create topics: not the answer that was due");
    }
    const auto& topic = response->topics.front();
    using enum protocol::error_code;
    if (topic.error_code == topic_already_exists) return;
    if (topic.error_code == none) {
      if (validate_only || version < first_version_that_tells_ids) return;
      if (log().topics().contains(name) && log().topics().at(name).id != topic.topic_id) {
        return log().violation("topics", fmt::format("{} was made twice", name));
      }
      log().acknowledge_topic({name, topic.topic_id, topic.num_partitions});
      context().topics.learn(name, topic.topic_id, topic.num_partitions);
      return;
    }
    if (topic.error_code != not_controller && topic.error_code != request_timed_out &&
        topic.error_code != not_leader_or_follower) {
      log().violation("topics", fmt::format("{} refused with code {}", name, static_cast<int>(topic.error_code)));
    }
  }
};

}  // namespace

std::unique_ptr<client> make_topic_creator(workload_context& context, rng chance) {
  return std::make_unique<topic_creator>(context, chance);
}

}  // namespace braidmq::sim
