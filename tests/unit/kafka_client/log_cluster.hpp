// A broker that has records: ListOffsets and Fetch of a scripted log.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/batch_builder.hpp"
#include "protocol/generated/fetch.hpp"
#include "protocol/generated/list_offsets.hpp"
#include "unit/kafka_client/scripted_broker.hpp"

namespace braidmq::kafka_client {

inline bytes batch_of(std::int64_t base, const std::vector<std::string>& values, model::batch_options options = {},
                      std::int64_t time = 1000) {
  options.base_offset = model::offset(base);
  model::batch_builder builder(options);
  for (const std::string& value : values) builder.add("k", value, time++);
  return *builder.build();
}

// Serves topic t: what fetches find in each partition, by offset.
struct log_cluster {
  small_cluster cluster;
  std::map<std::int32_t, std::vector<bytes>> batches;
  std::map<std::int32_t, std::int64_t> starts;
  std::map<std::int32_t, std::int64_t> ends;
  protocol::error_code fetch_error = protocol::error_code::none;
  std::size_t max_answer_bytes = 1000;  // of one partition; the first batch comes whole, the next may be cut
  std::shared_ptr<std::atomic<int>> fetches = std::make_shared<std::atomic<int>>(0);

  scripted_answer operator()(const protocol::request_frame& request) {
    switch (static_cast<protocol::api_key>(request.header.request_api_key)) {
      case protocol::api_key::api_versions: {
        protocol::api_versions_response said = cluster.versions();
        said.api_keys.push_back({1, 4, 18});
        said.api_keys.push_back({2, 1, 11});
        return answer_with(request, said);
      }
      case protocol::api_key::list_offsets:
        return answer_with(request, listed(request));
      case protocol::api_key::fetch:
        ++*fetches;
        return answer_with(request, fetched(request));
      default:
        return cluster(request);
    }
  }

  protocol::list_offsets_response listed(const protocol::request_frame& request) {
    const auto asked = protocol::list_offsets_request::decode(request.body, request.header.request_api_version);
    protocol::list_offsets_response said;
    for (const auto& topic : asked->topics) {
      said.topics.emplace_back().name = topic.name;
      for (const auto& one : topic.partitions) {
        auto& answer = said.topics.back().partitions.emplace_back();
        answer.partition_index = one.partition_index;
        const std::int32_t p = one.partition_index.value();
        const std::int64_t by_time = one.timestamp > 5000 ? -1 : 1;
        answer.offset = model::offset(one.timestamp == -1 ? ends[p] : one.timestamp == -2 ? starts[p] : by_time);
      }
    }
    return said;
  }

  protocol::fetch_response fetched(const protocol::request_frame& request) {
    const auto asked = protocol::fetch_request::decode(request.body, request.header.request_api_version);
    protocol::fetch_response said;
    EXPECT_EQ(asked->session_epoch, -1) << "it wants no session";
    for (const auto& topic : asked->topics) {
      said.responses.emplace_back().topic = topic.topic;
      for (const auto& one : topic.partitions) {
        auto& answer = said.responses.back().partitions.emplace_back();
        answer.partition_index = one.partition;
        answer.error_code = fetch_error;
        byte_buffer all;
        for (const bytes& batch : batches[one.partition.value()]) {
          const auto header = model::parse_batch_header(batch);
          if (header && header->last_offset() < one.fetch_offset) continue;
          const std::size_t room = max_answer_bytes - std::min(max_answer_bytes, all.size());
          all.append(all.size() == 0 ? batch.view() : batch.view().first(std::min(room, batch.size())));
        }
        answer.records = all.freeze();
      }
    }
    return said;
  }
};

}  // namespace braidmq::kafka_client
