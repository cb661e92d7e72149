#include "bench/broker/produce_frame.hpp"

#include <fmt/format.h>

#include "io/clock.hpp"
#include "io/random.hpp"
#include "model/batch_builder.hpp"
#include "protocol/errors.hpp"
#include "protocol/generated/produce.hpp"
#include "protocol/message.hpp"
#include "protocol/wire_reader.hpp"

namespace braidmq::bench {

result<bytes> produce_frame(const std::vector<batch_of>& batches, bool atomic) {
  protocol::produce_request request;
  request.acks = -1;
  request.timeout_ms = 30'000;
  request.atomic = atomic;
  const std::int64_t now_ms = io::system_clock().wall_ms();
  for (const batch_of& one : batches) {
    model::batch_builder builder;
    std::vector<std::byte> value(one.value_bytes);
    for (std::size_t i = 0; i < one.records; ++i) {
      io::system_random().fill(value);
      builder.add({now_ms, std::nullopt, byte_view(value), {}});
    }
    BRAID_TRY(batch, builder.build());
    auto& topic = request.topic_data.emplace_back();
    topic.name = one.topic;
    topic.partition_data.push_back({model::partition_index(one.partition), std::move(batch)});
  }
  byte_buffer frame;
  BRAID_TRY_VOID(protocol::encode_request_frame(frame, request, produce_version, 0, "bench"));
  return frame.freeze();
}

status check_produce_answer(byte_view frame, std::int32_t correlation_id) {
  const auto* api = protocol::find_api(protocol::produce_request::api_key);
  BRAID_TRY(read, protocol::decode_response_frame(bytes::copy_of(frame), *api, produce_version));
  const auto bad = std::make_error_code(std::errc::bad_message);
  if (read.correlation_id != correlation_id) {
    return fail(bad, fmt::format("an answer to request {}, expected {}", read.correlation_id, correlation_id));
  }
  BRAID_TRY(answer, protocol::produce_response::decode(std::move(read.body), produce_version));
  std::size_t written = 0;
  for (const auto& topic : answer.responses) {
    for (const auto& one : topic.partition_responses) {
      if (one.error_code != protocol::error_code::none) {
        return fail(bad, fmt::format("{}-{}: {}: {}", topic.name, one.index, protocol::to_string(one.error_code),
                                     one.error_message.value_or("")));
      }
      ++written;
    }
  }
  if (written == 0) return fail(bad, "an answer that speaks of no partition");
  return {};
}

}  // namespace braidmq::bench
