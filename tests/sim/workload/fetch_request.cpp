#include "workload/fetch_request.hpp"

namespace braidmq::sim {

fetch_call::fetch_call(history& log, fetch_wish wish, std::uint64_t connection) : log_(log), wish_(std::move(wish)) {
  record_.connection = connection;
  record_.asked = log_.next_moment();
  record_.asked_of_leader = log_.leads(connection);
  for (const wished_partition& one : wish_.partitions) {
    fetched_partition& partition = record_.partitions.emplace_back();
    partition.target = one.target;
    partition.from = one.from;
    partition.floor = log_.known_end(one.target);
    partition.server_floor = log_.known_end_at(connection, one.target);
    partition.start_floor = log_.known_start_at(connection, one.target);
  }
}

protocol::fetch_request fetch_call::message(std::int16_t version) const {
  protocol::fetch_request request;
  request.max_wait_ms = wish_.max_wait_ms;
  request.min_bytes = wish_.min_bytes;
  request.max_bytes = wish_.max_bytes;
  const topic_partition_id* before = nullptr;
  for (const wished_partition& one : wish_.partitions) {
    if (before == nullptr || before->topic != one.target.topic) {
      auto& topic = request.topics.emplace_back();
      if (version >= first_fetch_version_with_ids)
        topic.topic_id = one.target.topic;
      else
        topic.topic = one.topic;
    }
    before = &one.target;
    auto& partition = request.topics.back().partitions.emplace_back();
    partition.partition = one.target.partition;
    partition.fetch_offset = model::offset(one.from);
    partition.partition_max_bytes = one.max_bytes;
  }
  return request;
}

std::vector<std::pair<topic_partition_id, std::int64_t>> fetch_call::take(const result<bytes>& body,
                                                                          std::int16_t version) {
  std::vector<std::pair<topic_partition_id, std::int64_t>> next;
  if (!body) return next;
  const auto response = protocol::fetch_response::decode(*body, version);
  if (!response) {
    log_.violation("protocol", "fetch answer: " + response.error().to_string());
    return next;
  }
  if (response->error_code != protocol::error_code::none) {
    log_.violation("protocol", fmt::format("fetch refused with code {}", static_cast<int>(response->error_code)));
    return next;
  }
  std::size_t place = 0;
  for (const auto& topic : response->responses) {
    for (const auto& partition : topic.partitions) {
      if (place >= record_.partitions.size() ||
          record_.partitions[place].target.partition != partition.partition_index) {
        log_.violation("protocol", "fetch answer with partitions in another order");
        return {};
      }
      fetched_partition& into = record_.partitions[place++];
      if (!take_partition(partition, into)) return {};
      // Let go of meanwhile: on to what is there.
      if (into.code == protocol::error_code::offset_out_of_range) {
        next.emplace_back(into.target, log_.known_start(into.target));
      }
      if (into.code != protocol::error_code::none) continue;
      next.emplace_back(into.target, into.batches.empty() ? into.from : into.batches.back()->end());
    }
  }
  if (place != record_.partitions.size()) {
    log_.violation("protocol", fmt::format("{} of {} partitions answered", place, record_.partitions.size()));
    return {};
  }
  taken_ = true;
  log_.add(record_);
  return next;
}

bool fetch_call::take_partition(const protocol::fetch_response::partition_data& answer, fetched_partition& into) {
  into.code = answer.error_code;
  into.visible_end = answer.high_watermark.value();
  into.log_start = answer.log_start_offset.value();
  if (!answer.records) return true;
  auto batches = log_.read_batches(*answer.records);
  if (!batches) return false;
  into.batches = std::move(*batches);
  return true;
}

}  // namespace braidmq::sim
