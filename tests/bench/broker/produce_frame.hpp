// Produce requests as they go over the wire, made once and sent many times: the client must cost little beside the
// broker that is measured.
//
// Errors: those of the encoders.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/ids.hpp"

namespace braidmq::bench {

inline constexpr std::int16_t produce_version = 12;        // the last one that names topics
inline constexpr std::size_t correlation_id_position = 8;  // after the length, the API's key and version

// One batch, uncompressed, of records without keys whose values are `value_bytes` of chance.
struct batch_of {
  std::string topic;
  std::int32_t partition = 0;
  std::size_t records = 1;
  std::size_t value_bytes = 0;
};

// With acks=all; the length in front of it.
result<bytes> produce_frame(const std::vector<batch_of>& batches, bool atomic = false);

// An error unless the answer (a frame without its length) belongs to the request and says that all was written.
status check_produce_answer(byte_view frame, std::int32_t correlation_id);

}  // namespace braidmq::bench
