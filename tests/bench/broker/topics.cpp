#include "bench/broker/topics.hpp"

#include <fmt/format.h>

#include "kafka_client/connection.hpp"
#include "protocol/errors.hpp"
#include "protocol/generated/create_topics.hpp"
#include "protocol/generated/list_offsets.hpp"

namespace braidmq::bench {
namespace {

constexpr auto patience = std::chrono::seconds(60);
constexpr std::int64_t end_of_log = -1;

tl::unexpected<error> refused(const std::string& topic, protocol::error_code code) {
  return fail(kafka_client::errc::refused, fmt::format("{}: {}", topic, protocol::to_string(code)));
}

}  // namespace

status create_topic(const io::endpoint& at, const std::string& name, std::int32_t partitions) {
  BRAID_TRY(broker, kafka_client::connection::open(at, {}));
  BRAID_TRY(version, broker.version_for(protocol::create_topics_request::api_key));
  protocol::create_topics_request request;
  auto& topic = request.topics.emplace_back();
  topic.name = name;
  topic.num_partitions = partitions;
  topic.replication_factor = 1;
  BRAID_TRY(answer, broker.call<protocol::create_topics_response>(request, version, patience));
  for (const auto& one : answer.topics) {
    if (one.error_code != protocol::error_code::none) return refused(one.name, one.error_code);
  }
  return {};
}

result<std::int64_t> records_in(const io::endpoint& at, const std::string& topic, std::int32_t partitions) {
  constexpr std::int16_t first_without_old_form = 1;
  BRAID_TRY(broker, kafka_client::connection::open(at, {}));
  BRAID_TRY(version, broker.version_for(protocol::list_offsets_request::api_key,
                                        std::numeric_limits<std::int16_t>::max(), first_without_old_form));
  protocol::list_offsets_request request;
  request.replica_id = model::no_broker;
  request.timeout_ms = 30'000;
  auto& asked = request.topics.emplace_back();
  asked.name = topic;
  for (std::int32_t p = 0; p < partitions; ++p) {
    auto& one = asked.partitions.emplace_back();
    one.partition_index = model::partition_index(p);
    one.timestamp = end_of_log;
  }
  BRAID_TRY(answer, broker.call<protocol::list_offsets_response>(request, version, patience));
  std::int64_t sum = 0;
  std::int32_t answered = 0;
  for (const auto& one : answer.topics) {
    for (const auto& partition : one.partitions) {
      if (partition.error_code != protocol::error_code::none) return refused(topic, partition.error_code);
      sum += partition.offset.value();
      ++answered;
    }
  }
  if (answered != partitions) return fail(kafka_client::errc::bad_answer, fmt::format("{} partitions", answered));
  return sum;
}

}  // namespace braidmq::bench
