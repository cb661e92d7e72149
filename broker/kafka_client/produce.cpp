#include "kafka_client/produce.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/clock.hpp"
#include "kafka_client/partitioner.hpp"
#include "model/batch_builder.hpp"
#include "protocol/generated/produce.hpp"

namespace braidmq::kafka_client {
namespace {

constexpr std::int16_t first_version_with_tags = 9;
constexpr std::int16_t last_version_with_names = 12;

struct slice {
  written_slice outcome;
  model::broker_id leader{-1};
  model::batch_builder batch;
};

std::optional<byte_view> view_of(const std::optional<std::string>& text) {
  return text ? std::optional(as_byte_view(*text)) : std::nullopt;
}

result<std::map<std::string, topic_info>> look_up(client& with, const std::vector<outgoing_record>& records) {
  std::set<std::string> names;
  for (const outgoing_record& one : records) names.insert(one.topic);
  BRAID_TRY(found, with.topics({names.begin(), names.end()}));
  std::map<std::string, topic_info> topics;
  for (topic_info& topic : found) {
    if (topic.error != protocol::error_code::none) {
      return fail(errc::invalid_request, fmt::format("topic '{}': {}: {}", topic.name, protocol::to_string(topic.error),
                                                     protocol::error_text(topic.error)));
    }
    if (topic.partitions.empty())
      return fail(errc::bad_answer, fmt::format("topic '{}' without partitions", topic.name));
    topics.emplace(topic.name, std::move(topic));
  }
  return topics;
}

result<partition_info> choose(const topic_info& topic, const outgoing_record& record, std::uint64_t keyless_choice) {
  const auto count = static_cast<std::int32_t>(topic.partitions.size());
  std::int32_t wanted = 0;
  if (record.partition)
    wanted = *record.partition;
  else if (record.key)
    wanted = partition_of_key(*record.key, count);
  else
    wanted = static_cast<std::int32_t>(keyless_choice % topic.partitions.size());
  const auto found = std::ranges::find(topic.partitions, model::partition_index(wanted), &partition_info::index);
  if (found == topic.partitions.end()) {
    return fail(errc::invalid_request, fmt::format("topic '{}' has {} partitions, counted from 0: no partition {}",
                                                   topic.name, count, wanted));
  }
  if (found->leader.value() < 0) {
    return fail(errc::refused, fmt::format("partition {} of topic '{}' has no leader just now", wanted, topic.name));
  }
  return *found;
}

result<std::vector<slice>> gather(const std::map<std::string, topic_info>& topics,
                                  const std::vector<outgoing_record>& records, std::uint64_t keyless_choice) {
  std::vector<slice> slices;
  std::map<std::pair<std::string, std::int32_t>, std::size_t> places;
  const std::int64_t now_ms = io::system_clock().wall_ms();
  for (const outgoing_record& record : records) {
    BRAID_TRY(target, choose(topics.at(record.topic), record, keyless_choice));
    const auto [place, is_new] = places.try_emplace({record.topic, target.index.value()}, slices.size());
    if (is_new) {
      slice& made = slices.emplace_back();
      made.outcome.topic = record.topic;
      made.outcome.partition = target.index.value();
      made.leader = target.leader;
    }
    slice& to = slices[place->second];
    to.batch.add({now_ms, view_of(record.key), view_of(record.value), {}});
    ++to.outcome.records;
  }
  return slices;
}

result<protocol::produce_request> request_of(std::vector<slice>& slices, model::broker_id leader,
                                             const produce_options& options, std::chrono::milliseconds timeout) {
  protocol::produce_request request;
  request.acks = -1;
  request.timeout_ms = static_cast<std::int32_t>(timeout.count());
  request.atomic = options.atomic;
  for (slice& one : slices) {
    if (one.leader != leader) continue;
    auto topic =
        std::ranges::find(request.topic_data, one.outcome.topic, &protocol::produce_request::topic_produce_data::name);
    if (topic == request.topic_data.end()) {
      request.topic_data.emplace_back().name = one.outcome.topic;
      topic = std::prev(request.topic_data.end());
    }
    auto batch = one.batch.build();
    if (!batch) return fail(errc::invalid_request, batch.error().to_string());
    topic->partition_data.push_back({model::partition_index(one.outcome.partition), std::move(*batch)});
  }
  return request;
}

status read_answer(const protocol::produce_response& answer, std::vector<slice>& slices, model::broker_id leader) {
  std::map<std::pair<std::string, std::int32_t>, const protocol::produce_response::partition_produce_response*> said;
  for (const auto& topic : answer.responses) {
    for (const auto& one : topic.partition_responses) said[{topic.name, one.index.value()}] = &one;
  }
  for (slice& one : slices) {
    if (one.leader != leader) continue;
    const auto found = said.find({one.outcome.topic, one.outcome.partition});
    if (found == said.end()) {
      return fail(errc::bad_answer,
                  fmt::format("nothing was said of partition {} of '{}'", one.outcome.partition, one.outcome.topic));
    }
    one.outcome.error = found->second->error_code;
    one.outcome.message = found->second->error_message.value_or("");
    one.outcome.base = found->second->base_offset;
  }
  return {};
}

}  // namespace

result<std::vector<written_slice>> produce(client& with, const std::vector<outgoing_record>& records,
                                           const produce_options& options) {
  if (records.empty()) return fail(errc::invalid_request, "nothing to write");
  if (options.atomic && with.bootstrap().finalized_level(atomic_produce_feature) < 1) {
    return fail(errc::unsupported, fmt::format("{}: the cluster has no atomic write (feature {})",
                                               with.bootstrap().peer().to_string(), atomic_produce_feature));
  }
  BRAID_TRY(topics, look_up(with, records));
  BRAID_TRY(slices, gather(topics, records, options.keyless_choice));
  std::set<model::broker_id> leaders;
  for (const slice& one : slices) leaders.insert(one.leader);
  if (options.atomic && leaders.size() > 1) {
    return fail(errc::unsupported,
                fmt::format("these partitions have {} leaders, and an atomic write one", leaders.size()));
  }
  for (const model::broker_id leader : leaders) {
    BRAID_TRY(broker, with.broker(leader));
    BRAID_TRY(version, broker->version_for(protocol::produce_request::api_key, last_version_with_names,
                                           options.atomic ? first_version_with_tags : std::int16_t{0}));
    BRAID_TRY(request, request_of(slices, leader, options, with.options().timeout));
    // The broker's own timeout is the first to end, so that its answer still comes.
    const auto patience = with.options().timeout + with.options().connection.timeout;
    auto answer = broker->call<protocol::produce_response>(request, version, patience);
    if (!answer) {
      with.forget(leader);
      return tl::unexpected(answer.error());
    }
    BRAID_TRY_VOID(read_answer(*answer, slices, leader));
  }
  std::vector<written_slice> outcomes;
  outcomes.reserve(slices.size());
  for (slice& one : slices) outcomes.push_back(std::move(one.outcome));
  return outcomes;
}

}  // namespace braidmq::kafka_client
