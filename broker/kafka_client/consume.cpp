#include "kafka_client/consume.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "model/compression.hpp"
#include "model/record_batch.hpp"
#include "protocol/generated/fetch.hpp"
#include "protocol/generated/list_offsets.hpp"

namespace braidmq::kafka_client {
namespace {

constexpr std::int64_t latest = -1;
constexpr std::int64_t earliest = -2;
constexpr std::int16_t first_list_offsets = 1;
constexpr std::int16_t first_fetch = 4;
constexpr std::int16_t last_fetch_with_names = 12;
constexpr std::int32_t answer_bytes = 16 << 20;
constexpr std::int32_t partition_bytes = 1 << 20;
// Where there should be records and none come, for so many polls: something is wrong.
constexpr std::size_t most_empty_polls = 20;

tl::unexpected<error> refused(const std::string& of, protocol::error_code code) {
  return fail(errc::refused, fmt::format("{}: {}: {}", of, protocol::to_string(code), protocol::error_text(code)));
}

}  // namespace

std::string consumer::name_of(std::int32_t partition) const {
  return fmt::format("partition {} of topic '{}'", partition, options_.topic);
}

result<consumer> consumer::open(client& with, consume_options options) {
  consumer made(with, std::move(options));
  BRAID_TRY_VOID(made.find_partitions());
  BRAID_TRY_VOID(made.find_offsets());
  return made;
}

status consumer::find_partitions() {
  BRAID_TRY(topics, client_->topics({options_.topic}));
  const topic_info& topic = topics.front();
  if (topic.error != protocol::error_code::none) {
    return fail(errc::invalid_request, fmt::format("topic '{}': {}: {}", topic.name, protocol::to_string(topic.error),
                                                   protocol::error_text(topic.error)));
  }
  for (const partition_info& one : topic.partitions) {
    if (options_.partition && one.index.value() != *options_.partition) continue;
    if (one.leader.value() < 0) {
      return fail(errc::refused, fmt::format("{} has no leader just now", name_of(one.index.value())));
    }
    places_.push_back({one.index.value(), one.leader});
  }
  if (!places_.empty()) return {};
  return fail(errc::invalid_request,
              fmt::format("topic '{}' has {} partitions, counted from 0: no partition {}", options_.topic,
                          topic.partitions.size(), options_.partition.value_or(0)));
}

status consumer::find_offsets() {
  std::map<model::broker_id, std::vector<std::size_t>> by_leader;
  for (std::size_t i = 0; i < places_.size(); ++i) by_leader[places_[i].leader].push_back(i);
  for (const auto& [leader, of] : by_leader) {
    using kind = start_position::kind;
    // Records that come between the two questions count as before the end.
    std::vector<std::int64_t> starts;
    if (options_.from.what != kind::latest) {
      const std::int64_t time = options_.from.what == kind::time ? options_.from.value : earliest;
      BRAID_TRY(found, list_offsets(leader, of, time));
      starts = std::move(found);
    }
    BRAID_TRY(ends, list_offsets(leader, of, latest));
    for (std::size_t i = 0; i < of.size(); ++i) {
      place& one = places_[of[i]];
      one.end = ends[i];
      one.next = starts.empty() || starts[i] < 0 ? one.end : starts[i];  // nothing is that young
      if (options_.from.what != kind::offset) continue;
      if (options_.from.value < starts[i] || options_.from.value > one.end) {
        return fail(errc::invalid_request, fmt::format("{} has offsets {} up to {}, and not {}", name_of(one.partition),
                                                       starts[i], one.end, options_.from.value));
      }
      one.next = options_.from.value;
    }
  }
  return {};
}

result<std::vector<std::int64_t>> consumer::list_offsets(model::broker_id leader, const std::vector<std::size_t>& of,
                                                         std::int64_t timestamp) {
  BRAID_TRY(broker, client_->broker(leader));
  BRAID_TRY(version, broker->version_for(protocol::list_offsets_request::api_key,
                                         std::numeric_limits<std::int16_t>::max(), first_list_offsets));
  protocol::list_offsets_request request;
  request.replica_id = model::no_broker;
  request.timeout_ms = static_cast<std::int32_t>(client_->options().timeout.count());
  auto& topic = request.topics.emplace_back();
  topic.name = options_.topic;
  for (const std::size_t at : of) {
    auto& asked = topic.partitions.emplace_back();
    asked.partition_index = model::partition_index(places_[at].partition);
    asked.timestamp = timestamp;
  }
  auto answer = broker->call<protocol::list_offsets_response>(request, version, client_->options().timeout);
  if (!answer) {
    client_->forget(leader);
    return tl::unexpected(answer.error());
  }
  std::map<std::int32_t, const protocol::list_offsets_response::list_offsets_partition_response*> said;
  for (const auto& one : answer->topics) {
    if (one.name != options_.topic) continue;
    for (const auto& partition : one.partitions) said[partition.partition_index.value()] = &partition;
  }
  std::vector<std::int64_t> offsets;
  for (const std::size_t at : of) {
    const auto found = said.find(places_[at].partition);
    if (found == said.end()) return fail(errc::bad_answer, "nothing was said of " + name_of(places_[at].partition));
    if (found->second->error_code != protocol::error_code::none) {
      return refused(name_of(places_[at].partition), found->second->error_code);
    }
    offsets.push_back(found->second->offset.value());
  }
  return offsets;
}

result<bool> consumer::poll(const std::function<bool(const incoming_record&)>& take) {
  std::map<model::broker_id, std::vector<std::size_t>> by_leader;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (has_left(places_[i])) by_leader[places_[i].leader].push_back(i);
  }
  if (by_leader.empty()) return false;
  ++polls_without_records_;
  for (const auto& [leader, of] : by_leader) {
    BRAID_TRY(more, fetch(leader, of, take));
    if (!more) return false;
  }
  if (!options_.follow && polls_without_records_ > most_empty_polls) {
    return fail(errc::timed_out, fmt::format("{} should have records up to offset {}, and none come",
                                             name_of(places_[by_leader.begin()->second.front()].partition),
                                             places_[by_leader.begin()->second.front()].end));
  }
  // Brokers read in the order of the request: the others come first next time.
  std::rotate(places_.begin(), places_.begin() + 1, places_.end());
  return true;
}

result<bool> consumer::fetch(model::broker_id leader, const std::vector<std::size_t>& of,
                             const std::function<bool(const incoming_record&)>& take) {
  BRAID_TRY(broker, client_->broker(leader));
  BRAID_TRY(version, broker->version_for(protocol::fetch_request::api_key, last_fetch_with_names, first_fetch));
  protocol::fetch_request request;
  request.max_wait_ms = static_cast<std::int32_t>(options_.max_wait.count());
  request.min_bytes = 1;
  request.max_bytes = answer_bytes;
  auto& topic = request.topics.emplace_back();
  topic.topic = options_.topic;
  for (const std::size_t at : of) {
    auto& asked = topic.partitions.emplace_back();
    asked.partition = model::partition_index(places_[at].partition);
    asked.fetch_offset = model::offset(places_[at].next);
    asked.partition_max_bytes = partition_bytes;
  }
  auto answer =
      broker->call<protocol::fetch_response>(request, version, client_->options().timeout + options_.max_wait);
  if (!answer) {
    client_->forget(leader);
    return tl::unexpected(answer.error());
  }
  if (answer->error_code != protocol::error_code::none) {
    return refused(fmt::format("topic '{}'", options_.topic), answer->error_code);
  }
  for (const auto& one : answer->responses) {
    for (const auto& said : one.partitions) {
      const auto at = std::ranges::find(places_, said.partition_index.value(), &place::partition);
      if (one.topic != options_.topic || at == places_.end()) {
        return fail(errc::bad_answer, fmt::format("records of partition {} of '{}', which nobody asked for",
                                                  said.partition_index, one.topic));
      }
      if (said.error_code != protocol::error_code::none) return refused(name_of(at->partition), said.error_code);
      if (!said.records) continue;
      BRAID_TRY(more, read(*at, *said.records, take));
      if (!more) return false;
    }
  }
  return true;
}

result<bool> consumer::read(place& at, byte_view batches, const std::function<bool(const incoming_record&)>& take) {
  model::batch_reader reader(batches);
  const auto damaged = [&](const std::string& why) {
    return fail(errc::bad_answer, fmt::format("{}, at offset {} or behind: {}", name_of(at.partition), at.next, why));
  };
  while (true) {
    const auto batch = reader.next();
    if (!batch && batch.error().code == model::errc::incomplete_batch) return true;  // cut by the bound of the answer
    if (!batch) return damaged(batch.error().to_string());
    if (!*batch) return true;
    const model::batch_header& header = (*batch)->header;
    if (!model::batch_crc_matches((*batch)->data)) return damaged("the CRC of a batch does not match");
    if (header.last_offset().value() < at.next) continue;
    const std::int64_t after = header.last_offset().value() + 1;
    if (header.last_offset_delta < 0 || header.base_offset.value() < 0 || after <= at.next) {
      return damaged("a batch without sensible offsets");
    }
    polls_without_records_ = 0;
    if (header.is_control()) {
      at.next = after;
      continue;
    }
    const auto codec = header.codec();
    if (!codec) return damaged(fmt::format("there is no codec {}", header.codec_id()));
    bytes decoded;
    byte_view records = (*batch)->records();
    if (*codec != model::compression::none) {
      auto plain = model::decompress(*codec, records, options_.max_decoded_bytes);
      if (!plain) return damaged(plain.error().to_string());
      decoded = std::move(*plain);
      records = decoded;
    }
    model::record_reader each(records, header.record_count);
    while (true) {
      const auto record = each.next();
      if (!record) return damaged(record.error().to_string());
      if (!*record) break;
      incoming_record seen{at.partition, header.base_offset.value() + (*record)->offset_delta, -1, false, **record};
      if (seen.offset < at.next) continue;
      if (!options_.follow && seen.offset >= at.end) break;
      seen.append_time = header.timestamps() == model::timestamp_type::log_append_time;
      // Deltas come from the producer: their sum may be beyond 64 bits.
      seen.timestamp_ms = seen.append_time
                              ? header.max_timestamp_ms
                              : static_cast<std::int64_t>(static_cast<std::uint64_t>(header.base_timestamp_ms) +
                                                          static_cast<std::uint64_t>((*record)->timestamp_delta));
      if (!take(seen)) return false;
      at.next = seen.offset + 1;
    }
    at.next = after;
  }
}

}  // namespace braidmq::kafka_client
