#include "workload/final_reader.hpp"

#include <memory>
#include <utility>

#include "protocol/generated/list_offsets.hpp"
#include "workload/batches.hpp"
#include "workload/fetch_request.hpp"
#include "workload/metadata_request.hpp"
#include "workload/produce_request.hpp"

namespace braidmq::sim {
namespace {

constexpr std::int16_t newest_metadata = 13;
constexpr std::int16_t newest_fetch = 18;
constexpr std::int16_t newest_list_offsets = 11;
constexpr int most_tries = 20;
constexpr io::duration least_patience = std::chrono::seconds(20);  // a broker may be about to stop, and refuses all

}  // namespace

void final_reader::write_everywhere() {
  left_ = all_partitions();
  if (!left_.empty()) task_ = task::write;
  tried_from_ = context().world.now();
}

void final_reader::read_everything() {
  left_ = all_partitions();
  for (const auto& target : left_) content_[target];
  if (!left_.empty()) task_ = task::read;
}

void final_reader::on_turn() {
  if (in_flight() > 0) return;
  if (task_ == task::learn)
    learn();
  else if (task_ == task::write)
    write_next();
  else if (task_ == task::read)
    read_next();
}

void final_reader::learn() {
  auto call = std::make_shared<metadata_call>(log(), std::vector<std::string>());
  send(call->message(newest_metadata), newest_metadata, [this, call](const result<bytes>& body) {
    if (!body) return;
    call->take(body, newest_metadata);
    listed_ = call->listed();
    task_ = task::none;
  });
}

void final_reader::ask_who_leads() {
  auto call = std::make_shared<metadata_call>(log(), std::vector<std::string>());
  send(call->message(newest_metadata), newest_metadata, [this, call](const result<bytes>& body) {
    asks_who_leads_ = false;
    ++tries_;
    if (body) call->take(body, newest_metadata);
    go_elsewhere();
  });
}

void final_reader::write_next() {
  if (asks_who_leads_) return ask_who_leads();
  const topic_partition_id target = *left_.begin();
  sent_batch batch;
  batch.target = target;
  batch.records = 1;
  batch_plan plan;
  plan.number = log().add_batch(batch);
  plan.timestamp_ms = context().cluster.wall_clocks().first;
  std::vector<outgoing_batch> batches{{plan.number, name_of(target.topic), build_batch(plan), true}};
  auto call = std::make_shared<produce_call>(log(), std::move(batches), ++context().requests_made, connection_id());
  send(call->message(produce_version_with_ids, -1, 30'000), produce_version_with_ids,
       [this, call](const result<bytes>& body) {
         const auto answers = call->take(body, produce_version_with_ids);
         const bool written = !answers.empty() && answers.front().code == protocol::error_code::none;
         // By a deletion whose answer nobody heard.
         const bool gone = !answers.empty() && answers.front().code == protocol::error_code::unknown_topic_id &&
                           log().may_be_deleted(left_.begin()->topic);
         if (written || gone) {
           left_.erase(left_.begin());
           tries_ = 0;
           tried_from_ = context().world.now();
         } else if (!answers.empty() && answers.front().code == protocol::error_code::not_leader_or_follower &&
                    !asks_who_leads_) {
           asks_who_leads_ = true;
         } else if (++tries_ > most_tries && context().world.now() - tried_from_ > least_patience) {
           failure_ = fmt::format("a last write to {} is refused with code {}", to_string(*left_.begin(), log()),
                                  answers.empty() ? -1 : static_cast<int>(answers.front().code));
           left_.clear();
         }
         if (left_.empty()) task_ = task::none;
       });
}

void final_reader::read_next() {
  if (asks_who_leads_) return ask_who_leads();
  const topic_partition_id target = *left_.begin();
  fetch_wish wish;
  wish.max_wait_ms = 0;
  wish.partitions.push_back({name_of(target.topic), target, content_[target].end_offset()});
  auto call = std::make_shared<fetch_call>(log(), std::move(wish), connection_id());
  send(call->message(newest_fetch), newest_fetch, [this, call, target](const result<bytes>& body) {
    call->take(body, newest_fetch);
    const fetched_partition* got = call->record() == nullptr ? nullptr : &call->record()->partitions.front();
    if (got != nullptr && got->code == protocol::error_code::none && content_[target].start == got->log_start) {
      take(*got);
    } else if (got != nullptr &&
               (got->code == protocol::error_code::none || got->code == protocol::error_code::offset_out_of_range)) {
      // It has let go of records since the reading began.
      begin_at_start_of(target);
    } else if (++tries_ > most_tries) {
      content_.erase(target);  // the topics checker says that it could not be read
      left_.erase(target);
      tries_ = 0;
    }
    if (left_.empty()) task_ = task::none;
  });
}

void final_reader::take(const fetched_partition& got) {
  tries_ = 0;
  seen_log& all = content_[got.target];
  all.batches.insert(all.batches.end(), got.batches.begin(), got.batches.end());
  if (all.end_offset() >= got.visible_end || got.batches.empty()) left_.erase(got.target);
}

void final_reader::begin_at_start_of(const topic_partition_id& target) {
  protocol::list_offsets_request request;
  request.replica_id = model::broker_id(-1);
  request.topics.emplace_back().name = name_of(target.topic);
  auto& partition = request.topics.back().partitions.emplace_back();
  partition.partition_index = target.partition;
  constexpr std::int64_t earliest = -2;
  partition.timestamp = earliest;
  send(request, newest_list_offsets, [this, target](const result<bytes>& body) {
    if (++tries_ > most_tries) {
      content_.erase(target);
      left_.erase(target);
      tries_ = 0;
    }
    if (!body || !left_.contains(target)) return;
    const auto response = protocol::list_offsets_response::decode(*body, newest_list_offsets);
    if (!response) return log().violation("protocol", "list offsets: " + response.error().to_string());
    const auto& answer = response->topics.at(0).partitions.at(0);
    if (answer.error_code == protocol::error_code::none) content_[target] = {answer.offset.value(), {}};
    // Any replica gives records, and only the leader says where they begin.
    if (answer.error_code == protocol::error_code::not_leader_or_follower) asks_who_leads_ = true;
  });
}

std::set<topic_partition_id> final_reader::all_partitions() const {
  std::set<topic_partition_id> all;
  for (const auto& [name, topic] : log().topics()) {
    for (std::int32_t p = 0; p < topic.partitions; ++p) all.insert({topic.id, model::partition_index(p)});
  }
  for (const model::topic_id& id : listed_) {
    const churned_topic& topic = *log().churned(id);
    for (std::int32_t p = 0; p < topic.partitions; ++p) all.insert({id, model::partition_index(p)});
  }
  return all;
}

std::string final_reader::name_of(const model::topic_id& id) const {
  for (const auto& [name, topic] : log().topics()) {
    if (topic.id == id) return name;
  }
  const churned_topic* churned = log().churned(id);
  return churned == nullptr ? std::string() : churned->name;
}

}  // namespace braidmq::sim
