// What every frame between brokers begins with: two bytes of kind, two of its record's version (docs/formats/peer.md).
// Internal to peer.
#pragma once

#include <cstddef>
#include <cstdint>

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
};

inline constexpr std::size_t head_bytes = 2 * sizeof(std::int16_t);

}  // namespace braidmq::peer
