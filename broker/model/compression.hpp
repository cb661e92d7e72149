// The codecs of record batches: gzip (RFC 1952), snappy (raw blocks, or in the framing of xerial's snappy-java, as
// Kafka's Java client writes it), lz4 (frame format), zstd (RFC 8878).
//
// Decoding is made for hostile input. Memory: at most the limit that the caller gives and a constant per codec (gzip
// 45 KiB, lz4 8.3 MiB with 4 MiB blocks, zstd the window limit and 0.5 MiB). A declared length is believed only up to
// what remains of the limit. Time: linear in input bytes + output limit; skippable frames are refused, frames and
// members are counted. Bytes after the last frame are an error.
//
// Pure; a decoder belongs to one thread. Errors: message_too_large (a limit), invalid_record (no such stream).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/errc.hpp"
#include "model/record_batch.hpp"

namespace braidmq::model {

// "gzip" and so on: the value of compression.type.
std::string_view compression_name(compression codec);
std::optional<compression> parse_compression(std::string_view name);

struct decode_limits {
  std::size_t max_output_bytes = 32U << 20U;  // all output together
  std::size_t max_chunk_bytes = 32U << 20U;   // one snappy block, which has to be in memory at once
  int zstd_window_log_max = 23;  // 8 MiB: all levels up to 19; 20-22 need 25-27 if the size is not declared
  int max_members = 64;          // gzip members, zstd frames
};

// The decoded bytes of one compressed block, window by window. `from` must outlive it.
class decoder {
 public:
  explicit decoder(std::size_t max_output_bytes) : output_left_(max_output_bytes) {}
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;
  virtual ~decoder() = default;

  // The next window of output, valid until the next call; empty at the end. After an error: do not call again.
  result<byte_view> next();

 private:
  virtual result<byte_view> produce() = 0;

  std::size_t output_left_;
};

// Never null. A block without compression is one window.
std::unique_ptr<decoder> make_decoder(compression codec, byte_view from, const decode_limits& limits);

// All output at once. Allocates what the output needs and no more (where the size is not known before, the stream is
// decoded twice rather than kept in a growing block).
result<bytes> decompress(compression codec, byte_view from, std::size_t max_output_bytes);

// Snappy writes xerial framing in chunks of 32 KiB. `level` counts for gzip, lz4 and zstd.
result<bytes> compress(compression codec, byte_view from, std::optional<int> level = std::nullopt);

}  // namespace braidmq::model
