// Splits a snappy payload into its raw blocks without decoding them. Internal to model's codecs.
// Framing of snappy-java: 8 bytes of magic, two int32 of version, then (int32 length, raw block) until the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace braidmq::model {

inline constexpr std::array<std::uint8_t, 8> xerial_magic = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
inline constexpr std::int32_t xerial_version = 1;
inline constexpr std::size_t xerial_header_bytes = 16;

struct snappy_chunk {
  byte_view compressed;
  std::size_t decoded_bytes = 0;  // declared, and possible for so many compressed bytes
};

class snappy_chunks {
 public:
  snappy_chunks(byte_view from, std::size_t max_output_bytes, std::size_t max_chunk_bytes);

  // None at the end. A chunk beyond what is left of the limits is message_too_large, before anything is allocated.
  result<std::optional<snappy_chunk>> next();

 private:
  result<byte_view> take_block();

  byte_view rest_;
  bool framed_;
  std::size_t output_left_;
  std::size_t max_chunk_bytes_;
};

// Decodes one chunk to `to`, which has chunk.decoded_bytes bytes.
status decode_snappy_chunk(const snappy_chunk& chunk, mutable_byte_view to);

}  // namespace braidmq::model
