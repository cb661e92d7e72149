// One Metadata request and its answer, noted in the history.
#pragma once

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
    for (const auto& [name, topic] : log_.topics()) known_.insert(name);
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
      const std::string name = topic.name.value_or("");
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
    return learned;
  }

 private:
  history& log_;
  std::vector<std::string> names_;
  std::set<std::string> known_;
};

}  // namespace braidmq::sim
