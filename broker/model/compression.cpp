#define ZLIB_CONST
#include "model/compression.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <lz4frame.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include "base/check.hpp"
#include "model/snappy_chunks.hpp"

namespace braidmq::model {
namespace {

constexpr std::array<std::string_view, 5> names = {"none", "gzip", "snappy", "lz4", "zstd"};

// Calls `use` with each window; the sum of their sizes.
template <class Use>
result<std::size_t> for_each_window(compression codec, byte_view from, const decode_limits& limits, Use use) {
  const auto source = make_decoder(codec, from, limits);
  std::size_t total = 0;
  for (;;) {
    BRAID_TRY(window, source->next());
    if (window.empty()) return total;
    use(total, window);
    total += window.size();
  }
}

result<bytes> decompress_stream(compression codec, byte_view from, const decode_limits& limits) {
  BRAID_TRY(size, for_each_window(codec, from, limits, [](std::size_t, byte_view) {}));
  std::vector<std::byte> block(size);
  BRAID_TRY(again, for_each_window(codec, from, limits, [&block](std::size_t at, byte_view window) {
              std::ranges::copy(window, block.begin() + static_cast<std::ptrdiff_t>(at));
            }));
  BRAID_CHECK(again == size, "a stream decoded to {} bytes and then to {}", size, again);
  return bytes::take(std::move(block));
}

result<bytes> decompress_snappy(byte_view from, std::size_t max_output_bytes) {
  std::size_t size = 0;
  for (snappy_chunks chunks(from, max_output_bytes, max_output_bytes);;) {
    BRAID_TRY(chunk, chunks.next());
    if (!chunk) break;
    size += chunk->decoded_bytes;
  }
  std::vector<std::byte> block(size);
  std::size_t at = 0;
  for (snappy_chunks chunks(from, max_output_bytes, max_output_bytes);;) {
    BRAID_TRY(chunk, chunks.next());
    if (!chunk) return bytes::take(std::move(block));
    BRAID_TRY_VOID(decode_snappy_chunk(*chunk, mutable_byte_view(block).subspan(at, chunk->decoded_bytes)));
    at += chunk->decoded_bytes;
  }
}

bytes freeze(std::vector<std::byte>& block, std::size_t size) {
  block.resize(size);
  return bytes::take(std::move(block));
}

bytes compress_gzip(byte_view from, std::optional<int> level) {
  z_stream stream{};
  constexpr int gzip_format = 16 + MAX_WBITS;
  constexpr int memory_level = 8;
  const int chosen = std::clamp(level.value_or(Z_DEFAULT_COMPRESSION), -1, Z_BEST_COMPRESSION);
  BRAID_CHECK(deflateInit2(&stream, chosen, Z_DEFLATED, gzip_format, memory_level, Z_DEFAULT_STRATEGY) == Z_OK,
              "out of memory");
  std::vector<std::byte> block(deflateBound(&stream, from.size()));
  stream.next_in = reinterpret_cast<const Bytef*>(from.data());
  stream.avail_in = static_cast<uInt>(from.size());
  stream.next_out = reinterpret_cast<Bytef*>(block.data());
  stream.avail_out = static_cast<uInt>(block.size());
  const int code = deflate(&stream, Z_FINISH);
  const std::size_t size = block.size() - stream.avail_out;
  deflateEnd(&stream);
  BRAID_CHECK(code == Z_STREAM_END, "deflate ended with {}", code);
  return freeze(block, size);
}

bytes compress_snappy(byte_view from) {
  constexpr std::size_t chunk_bytes = 32U << 10U;
  byte_buffer framed(xerial_header_bytes + from.size() / 2);
  for (const std::uint8_t byte : xerial_magic) framed.append_be(byte);
  framed.append_be(xerial_version);
  framed.append_be(xerial_version);
  std::vector<char> block(snappy::MaxCompressedLength(chunk_bytes));
  for (std::size_t at = 0; at < from.size(); at += chunk_bytes) {
    const byte_view chunk = from.subspan(at, std::min(chunk_bytes, from.size() - at));
    std::size_t size = 0;
    snappy::RawCompress(reinterpret_cast<const char*>(chunk.data()), chunk.size(), block.data(), &size);
    framed.append_be(static_cast<std::int32_t>(size));
    framed.append(std::string_view(block.data(), size));
  }
  return framed.freeze();
}

bytes compress_lz4(byte_view from, std::optional<int> level) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = LZ4F_max64KB;
  preferences.frameInfo.blockMode = LZ4F_blockIndependent;  // the Java client reads no other
  constexpr int max_level = 17;
  preferences.compressionLevel = std::clamp(level.value_or(0), 0, max_level);
  std::vector<std::byte> block(LZ4F_compressFrameBound(from.size(), &preferences));
  const std::size_t size = LZ4F_compressFrame(block.data(), block.size(), from.data(), from.size(), &preferences);
  BRAID_CHECK(LZ4F_isError(size) == 0, "lz4: {}", LZ4F_getErrorName(size));
  return freeze(block, size);
}

bytes compress_zstd(byte_view from, std::optional<int> level) {
  constexpr int default_level = 3;
  const int chosen = std::clamp(level.value_or(default_level), ZSTD_minCLevel(), ZSTD_maxCLevel());
  std::vector<std::byte> block(ZSTD_compressBound(from.size()));
  const std::size_t size = ZSTD_compress(block.data(), block.size(), from.data(), from.size(), chosen);
  BRAID_CHECK(ZSTD_isError(size) == 0, "zstd: {}", ZSTD_getErrorName(size));
  return freeze(block, size);
}

}  // namespace

std::string_view compression_name(compression codec) {
  return names[static_cast<std::size_t>(codec)];
}

std::optional<compression> parse_compression(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<compression>(found - names.begin());
}

result<bytes> decompress(compression codec, byte_view from, std::size_t max_output_bytes) {
  if (codec == compression::snappy) return decompress_snappy(from, max_output_bytes);
  decode_limits limits;
  limits.max_output_bytes = max_output_bytes;
  limits.max_chunk_bytes = max_output_bytes;
  return decompress_stream(codec, from, limits);
}

result<bytes> compress(compression codec, byte_view from, std::optional<int> level) {
  if (from.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    return fail(errc::message_too_large, fmt::format("{} bytes are more than a batch can hold", from.size()));
  }
  switch (codec) {
    case compression::none:
      break;
    case compression::gzip:
      return compress_gzip(from, level);
    case compression::snappy:
      return compress_snappy(from);
    case compression::lz4:
      return compress_lz4(from, level);
    case compression::zstd:
      return compress_zstd(from, level);
  }
  return bytes::copy_of(from);
}

}  // namespace braidmq::model
