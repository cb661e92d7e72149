// Asks which topics there are: all, or some by name. This is also how clients learn of topics whose making was answered
// too late or without an id.
#include "workload/client.hpp"
#include "workload/metadata_request.hpp"

namespace braidmq::sim {
namespace {

class metadata_reader final : public client {
 public:
  metadata_reader(workload_context& context, rng chance) : client(context, "metadata", chance) {}

 private:
  void on_turn() override {
    if (in_flight() >= 1 || chance().chance(0.5) || !take_operation()) return;
    const std::int16_t version = any_version(0, 13);
    std::vector<std::string> names;
    if (chance().chance(0.5)) {
      for (const std::string& name : context().topics.names) {
        if (chance().chance(0.5)) names.push_back(name);
      }
    }
    auto call = std::make_shared<metadata_call>(log(), names);
    send(call->message(version), version, [this, call, version](const result<bytes>& body) {
      for (const topic_record& topic : call->take(body, version)) {
        if (churns(topic.name)) continue;  // an old answer would bring back what is deleted
        context().topics.learn(topic.name, topic.id, topic.partitions);
      }
    });
  }
};

}  // namespace

std::unique_ptr<client> make_metadata_reader(workload_context& context, rng chance) {
  return std::make_unique<metadata_reader>(context, chance);
}

}  // namespace braidmq::sim
