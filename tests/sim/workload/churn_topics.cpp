// Makes, grows, configures, deletes and makes again a few topics, one request at a time for each name. When an answer
// does not come, Metadata tells what became of it. Topics that are gone are still asked for by their ids, and the new
// ones by their names, in versions that know no ids.
#include <algorithm>
#include <set>

#include "protocol/generated/create_partitions.hpp"
#include "protocol/generated/create_topics.hpp"
#include "protocol/generated/delete_topics.hpp"
#include "protocol/generated/incremental_alter_configs.hpp"
#include "workload/client.hpp"
#include "workload/fetch_request.hpp"
#include "workload/metadata_request.hpp"

namespace braidmq::sim {
namespace {

using protocol::error_code;

constexpr std::size_t most_names = 4;
constexpr std::int32_t most_partitions = 6;
constexpr std::int16_t first_fetch_with_ids = 13;
constexpr std::int16_t delete_version_with_ids = 6;

// Refusals that say nothing of the topic.
bool is_undecided(error_code code) {
  using enum error_code;
  return code == not_controller || code == request_timed_out || code == not_leader_or_follower;
}

class topic_churner final : public client {
 public:
  topic_churner(workload_context& context, rng chance) : client(context, "churner", chance) {}

 private:
  enum class state { absent, present, unsure };
  struct slot {
    std::string name;
    state is = state::absent;
    model::topic_id id;
    std::int32_t partitions = 0;
    bool busy = false;
  };

  void on_turn() override {
    if (in_flight() >= 2 || chance().chance(0.7)) return;
    if (slots_.size() < most_names && chance().chance(0.3)) slots_.push_back({fmt::format("churn.{}", slots_.size())});
    if (slots_.empty()) return;
    const std::size_t at = chance().below(slots_.size());
    if (slots_[at].busy || !take_operation()) return;
    slots_[at].busy = true;
    if (slots_[at].is == state::unsure)
      look_up(at);
    else if (slots_[at].is == state::absent)
      create(at);
    else
      change(at);
  }

  void change(std::size_t at) {
    const std::uint64_t what = chance().below(10);
    if (what < 3)
      remove(at);
    else if (what < 6 && slots_[at].partitions < most_partitions)
      grow(at);
    else if (what < 7)
      configure(at);
    else if (what < 8 && !ghosts_.empty())
      fetch_ghost(at);
    else
      fetch_by_name(at);
  }

  void unsure(slot& of) { of.is = state::unsure; }
  void present(slot& of, const topic_record& topic) {
    log().note_churned(topic);
    of.is = state::present;
    of.id = topic.id;
    of.partitions = topic.partitions;
    context().topics.learn(topic.name, topic.id, topic.partitions);
  }
  void refused(slot& of, error_code code, std::initializer_list<error_code> excused) {
    unsure(of);
    if (is_undecided(code) || std::ranges::find(excused, code) != excused.end()) return;
    log().violation("churn", fmt::format("{} refused with code {}", of.name, static_cast<int>(code)));
  }

  void look_up(std::size_t at) {
    const std::int16_t version = any_version(10, 13);
    auto call = std::make_shared<metadata_call>(log(), std::vector{slots_[at].name});
    send(call->message(version), version, [this, at, call, version](const result<bytes>& body) {
      slot& of = slots_[at];
      of.busy = false;
      if (!body) return;
      const auto learned = call->take(body, version);
      of.is = state::absent;
      for (const topic_record& topic : learned) present(of, topic);
    });
  }

  void create(std::size_t at) {
    protocol::create_topics_request request;
    request.timeout_ms = static_cast<std::int32_t>(chance().chance(0.2) ? chance().between(1, 100) : 30'000);
    auto& topic = request.topics.emplace_back();
    topic.name = slots_[at].name;
    topic.num_partitions = static_cast<std::int32_t>(chance().between(1, 3));
    topic.replication_factor = -1;
    if (chance().chance(0.3)) topic.configs.push_back({"flush.ms", "1000"});
    log().ask_partitions(topic.name, topic.num_partitions);
    constexpr std::int16_t version = 7;
    send(request, version, [this, at](const result<bytes>& body) {
      slot& of = slots_[at];
      of.busy = false;
      unsure(of);
      if (!body) return;
      const auto response = protocol::create_topics_response::decode(*body, version);
      if (!response || response->topics.size() != 1) return log().violation("protocol", "create topics, churning");
      const auto& made = response->topics.front();
      // Deleted before it was answered: by a deletion that nobody heard the answer of.
      if (made.error_code != error_code::none)
        return refused(of, made.error_code, {error_code::topic_already_exists, error_code::unknown_topic_or_partition});
      if (const churned_topic* known = log().churned(made.topic_id); known && known->delete_acknowledged != 0) {
        return log().violation("churn", fmt::format("{} was made with the id of a deleted topic", of.name));
      }
      present(of, {of.name, made.topic_id, made.num_partitions});
    });
  }

  void remove(std::size_t at) {
    const bool by_id = chance().chance(0.6);
    const std::int16_t version = by_id ? delete_version_with_ids : any_version(1, delete_version_with_ids);
    const model::topic_id id = slots_[at].id;
    protocol::delete_topics_request request;
    request.timeout_ms = static_cast<std::int32_t>(chance().chance(0.2) ? chance().between(1, 100) : 30'000);
    if (by_id)
      request.topics.push_back({std::nullopt, id});
    else if (version >= delete_version_with_ids)
      request.topics.push_back({slots_[at].name, {}});
    else
      request.topic_names.push_back(slots_[at].name);
    if (by_id)
      log().ask_deletion(id);
    else
      log().ask_deletion(slots_[at].name);
    send(request, version, [this, at, id, by_id, version](const result<bytes>& body) {
      slot& of = slots_[at];
      of.busy = false;
      unsure(of);
      if (!body) return;
      if (!by_id) log().answer_deletion(of.name);
      const auto response = protocol::delete_topics_response::decode(*body, version);
      if (!response || response->responses.size() != 1) return log().violation("protocol", "delete topics");
      const auto& gone = response->responses.front();
      if (gone.error_code != error_code::none)
        return refused(of, gone.error_code, {error_code::unknown_topic_id, error_code::unknown_topic_or_partition});
      log().acknowledge_deletion(id);
      context().topics.forget(id);
      ghosts_.push_back({of.name, {id, model::partition_index(0)}});
      of.is = state::absent;
    });
  }

  void grow(std::size_t at) {
    const std::int16_t version = any_version(0, 3);
    const topic_record grown{slots_[at].name, slots_[at].id,
                             slots_[at].partitions + static_cast<std::int32_t>(chance().between(1, 2))};
    protocol::create_partitions_request request;
    request.timeout_ms = static_cast<std::int32_t>(chance().chance(0.2) ? chance().between(1, 100) : 30'000);
    auto& topic = request.topics.emplace_back();
    topic.name = grown.name;
    topic.count = grown.partitions;
    topic.assignments.reset();
    log().ask_partitions(grown.name, grown.partitions);
    send(request, version, [this, at, grown, version](const result<bytes>& body) {
      slot& of = slots_[at];
      of.busy = false;
      unsure(of);
      if (!body) return;
      const auto response = protocol::create_partitions_response::decode(*body, version);
      if (!response || response->results.size() != 1) return log().violation("protocol", "create partitions");
      const error_code code = response->results.front().error_code;
      if (code == error_code::none) return present(of, grown);
      refused(of, code,
              {error_code::unknown_topic_id, error_code::unknown_topic_or_partition, error_code::invalid_partitions});
    });
  }

  void configure(std::size_t at) {
    const std::int16_t version = any_version(0, 1);
    protocol::incremental_alter_configs_request request;
    auto& resource = request.resources.emplace_back();
    resource.resource_type = 2;
    resource.resource_name = slots_[at].name;
    resource.configs.push_back({"flush.messages", 0, std::to_string(1 + chance().below(1'000))});
    send(request, version, [this, at, version](const result<bytes>& body) {
      slot& of = slots_[at];
      of.busy = false;
      if (!body) return;
      const auto response = protocol::incremental_alter_configs_response::decode(*body, version);
      if (!response || response->responses.size() != 1) return log().violation("protocol", "alter configs");
      const error_code code = response->responses.front().error_code;
      if (code == error_code::none) return;
      refused(of, code, {error_code::unknown_topic_id, error_code::unknown_topic_or_partition});
    });
  }

  // By the id of a topic that was deleted: the checkers say that nothing may come.
  void fetch_ghost(std::size_t at) {
    fetch_wish wish;
    wish.partitions.push_back(ghosts_[chance().below(ghosts_.size())]);
    const std::int16_t version = any_version(first_fetch_with_ids, 18);
    auto call = std::make_shared<fetch_call>(log(), std::move(wish), connection_id());
    send(call->message(version), version, [this, at, call, version](const result<bytes>& body) {
      slots_[at].busy = false;
      call->take(body, version);
    });
  }

  // By name: whose records come is told by the records.
  void fetch_by_name(std::size_t at) {
    fetch_wish wish;
    wish.partitions.push_back({slots_[at].name, {slots_[at].id, model::partition_index(0)}});
    const std::int16_t version = any_version(4, first_fetch_with_ids - 1);
    history unheard;  // takes the target from the wish, which may be another topic by now
    const protocol::fetch_request request = fetch_call(unheard, std::move(wish), connection_id()).message(version);
    fetch_record record;
    record.connection = connection_id();
    record.asked = log().next_moment();
    record.asked_of_leader = log().leads(connection_id());
    send(request, version, [this, at, record, version](const result<bytes>& body) mutable {
      slots_[at].busy = false;
      if (!body) return;
      const auto response = protocol::fetch_response::decode(*body, version);
      if (!response || response->responses.size() != 1 || response->responses[0].partitions.size() != 1) {
        return log().violation("protocol", "fetch by name");
      }
      take_named(response->responses[0].partitions[0], std::move(record));
    });
  }

  void take_named(const protocol::fetch_response::partition_data& answer, fetch_record record) {
    if (answer.error_code != error_code::none || !answer.records || answer.records->empty()) return;
    fetched_partition seen;
    auto batches = log().read_batches(*answer.records);
    if (!batches) return;
    std::set<topic_partition_id> targets;
    for (const seen_batch_ptr& batch : *batches) {
      for (const seen_record& one : batch->records) targets.insert(log().batch(one.name.batch).target);
    }
    if (targets.size() != 1) return log().violation("churn", "a topic shows records of several lives of its name");
    seen.target = *targets.begin();
    seen.visible_end = answer.high_watermark.value();
    seen.log_start = answer.log_start_offset.value();
    seen.batches = std::move(*batches);
    record.partitions.push_back(std::move(seen));
    log().add(std::move(record));
  }

  std::vector<slot> slots_;
  std::vector<wished_partition> ghosts_;
};

}  // namespace

std::unique_ptr<client> make_topic_churner(workload_context& context, rng chance) {
  return std::make_unique<topic_churner>(context, chance);
}

}  // namespace braidmq::sim
