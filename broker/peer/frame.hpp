// What every frame between brokers begins with: two bytes of kind, two of its record's version (docs/formats/peer.md).
// For those who send frames over a mesh and know their records.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/check.hpp"
#include "base/endian.hpp"
#include "base/result.hpp"
#include "peer/errc.hpp"

namespace braidmq::peer {

// Their numbers keep their meaning.
enum class frame_kind : std::int16_t {
  hello = 1,
  answer = 2,
  proof = 3,
  welcome = 4,
  refusal = 5,

  vote_request = 16,
  vote_response = 17,
  append_request = 18,
  append_response = 19,
  heartbeat = 20,
  heartbeat_response = 21,
  commit_notice = 22,
  read_index_request = 23,
  read_index_response = 24,
  timeout_now = 25,

  birth = 32,

  metadata_proposal = 48,
  metadata_proposed = 49,
};

inline constexpr std::size_t head_bytes = 2 * sizeof(std::int16_t);

// `size`: about what the record takes.
template <class Record>
bytes frame_of(frame_kind kind, const Record& record, std::size_t size) {
  byte_buffer frame(head_bytes + size);
  frame.append_be(static_cast<std::int16_t>(kind));
  frame.append_be(Record::max_version);
  const status written = record.encode(frame, Record::max_version);
  BRAID_CHECK(written.has_value(), "a frame of kind {}: {}", static_cast<int>(kind), written.error().to_string());
  return frame.freeze();
}

// Of a frame with a whole head. What the record refers to lies in the frame's memory.
template <class Record>
result<Record> record_in(const bytes& frame) {
  const auto version = load_be<std::int16_t>(frame.data() + sizeof(std::int16_t));
  auto record = Record::decode(frame.slice(head_bytes), version);
  if (!record) return fail(errc::bad_frame, record.error().to_string());
  return std::move(*record);
}

}  // namespace braidmq::peer
