// One Metadata request and its answer, noted in the history.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "history.hpp"
#include "protocol/generated/metadata.hpp"

namespace braidmq::sim {

class metadata_call {
 public:
  // No names: all topics.
  metadata_call(history& log, std::vector<std::string> names) : log_(log), names_(std::move(names)) {
    asked_ = log_.next_moment();
    if (log_.brokers() > 1) return;  // others may hear of a topic later
    for (const auto& [name, topic] : log_.topics()) known_.insert(name);
    for (const auto& [id, topic] : log_.all_churned()) least_[id] = topic.partitions;
  }

  protocol::metadata_request message(std::int16_t version) const {
    protocol::metadata_request request;
    request.allow_auto_topic_creation = version < 4;  // older ones cannot say no
    request.topics.reset();                           // all
    if (!names_.empty()) {
      request.topics.emplace();
      for (const std::string& name : names_) request.topics->emplace_back().name = name;
    } else if (version == 0) {
      request.topics.emplace();
    }
    return request;
  }

  // Topics that came with an id.
  std::vector<topic_record> take(const result<bytes>& body, std::int16_t version) {
    std::vector<topic_record> learned;
    if (!body) return learned;
    const auto response = protocol::metadata_response::decode(*body, version);
    if (!response) {
      log_.violation("protocol", "metadata: " + response.error().to_string());
      return learned;
    }
    std::set<std::string> answered;
    for (const auto& topic : response->topics) {
      for (const auto& partition : topic.partitions) {
        if (version >= first_version_with_epochs) {
          log_.note_leader(partition.leader_id.value(), partition.leader_epoch.value());
        }
      }
    }
    for (const auto& topic : response->topics) {
      const std::string name = topic.name.value_or("");
      if (churns(name)) {
        take_churned(topic, learned);
        continue;
      }
      answered.insert(name);
      const auto partitions = static_cast<std::int32_t>(topic.partitions.size());
      log_.add(metadata_record{name, topic.error_code, topic.topic_id, partitions, known_.contains(name)});
      if (topic.error_code != protocol::error_code::none || topic.topic_id.is_zero()) continue;
      learned.push_back({name, topic.topic_id, partitions});
      log_.acknowledge_topic(learned.back());
    }
    if (names_.empty()) {
      for (const std::string& name : known_) {
        if (!answered.contains(name)) {
          log_.add(metadata_record{name, protocol::error_code::unknown_topic_or_partition, {}, 0, true});
        }
      }
    }
    if (names_.empty() && version >= first_version_with_ids) {
      for (const auto& [id, partitions] : least_) {
        if (!listed_.contains(id)) log_.add(churn_sighting{id, 0, partitions, 0, asked_, log_.next_moment()});
      }
    }
    return learned;
  }

  // The churning topics of the answer.
  const std::set<model::topic_id>& listed() const { return listed_; }

 private:
  static constexpr std::int16_t first_version_with_epochs = 7;
  static constexpr std::int16_t first_version_with_ids = 10;

  void take_churned(const protocol::metadata_response::metadata_response_topic& topic,
                    std::vector<topic_record>& learned) {
    if (topic.error_code != protocol::error_code::none || topic.topic_id.is_zero()) return;
    const topic_record seen{*topic.name, topic.topic_id, static_cast<std::int32_t>(topic.partitions.size())};
    log_.note_churned(seen);
    listed_.insert(seen.id);
    log_.add(churn_sighting{seen.id, seen.partitions, least_[seen.id], log_.most_partitions(seen.name), asked_,
                            log_.next_moment()});
    learned.push_back(seen);
  }

  history& log_;
  std::vector<std::string> names_;
  std::set<std::string> known_;
  moment asked_ = 0;
  std::map<model::topic_id, std::int32_t> least_;
  std::set<model::topic_id> listed_;
};

}  // namespace braidmq::sim
