#include "model/snappy_chunks.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <snappy.h>

#include "base/endian.hpp"
#include "model/errc.hpp"

namespace braidmq::model {
namespace {

bool has_xerial_header(byte_view from) {
  return from.size() >= xerial_header_bytes &&
         std::ranges::equal(from.first(xerial_magic.size()), xerial_magic,
                            [](std::byte a, std::uint8_t b) { return std::to_integer<std::uint8_t>(a) == b; });
}

const char* chars(byte_view view) {
  return reinterpret_cast<const char*>(view.data());
}

}  // namespace

// The version fields are not looked at: decoders never had to, and some clients write them with another byte order.
snappy_chunks::snappy_chunks(byte_view from, std::size_t max_output_bytes, std::size_t max_chunk_bytes)
    : rest_(from), framed_(has_xerial_header(from)), output_left_(max_output_bytes), max_chunk_bytes_(max_chunk_bytes) {
  if (framed_) rest_ = rest_.subspan(xerial_header_bytes);
}

result<byte_view> snappy_chunks::take_block() {
  byte_view block = rest_;
  if (framed_) {
    if (rest_.size() < sizeof(std::int32_t)) return fail(errc::invalid_record, "snappy: chunk length is cut short");
    const auto length = load_be<std::int32_t>(rest_.data());
    rest_ = rest_.subspan(sizeof length);
    if (length <= 0 || static_cast<std::size_t>(length) > rest_.size()) {
      return fail(errc::invalid_record,
                  fmt::format("snappy: chunk length {}, {} bytes are left", length, rest_.size()));
    }
    block = rest_.first(static_cast<std::size_t>(length));
  }
  rest_ = rest_.subspan(block.size());
  return block;
}

result<std::optional<snappy_chunk>> snappy_chunks::next() {
  if (rest_.empty()) return std::optional<snappy_chunk>{};
  BRAID_TRY(block, take_block());
  std::size_t declared = 0;
  if (!snappy::GetUncompressedLength(chars(block), block.size(), &declared)) {
    return fail(errc::invalid_record, "snappy: no length in front of a block");
  }
  // The densest element is a copy of 64 bytes in 3, so a larger claim is a lie: do not allocate for it.
  constexpr std::size_t max_expansion = 22;
  if (declared / max_expansion > block.size()) {
    return fail(errc::invalid_record, fmt::format("snappy: {} bytes cannot hold {}", block.size(), declared));
  }
  const std::size_t limit = std::min(output_left_, max_chunk_bytes_);
  if (declared > limit) {
    return fail(errc::message_too_large, fmt::format("snappy: block of {} bytes, limit {}", declared, limit));
  }
  output_left_ -= declared;
  return std::optional<snappy_chunk>{snappy_chunk{block, declared}};
}

status decode_snappy_chunk(const snappy_chunk& chunk, mutable_byte_view to) {
  if (!snappy::RawUncompress(chars(chunk.compressed), chunk.compressed.size(), reinterpret_cast<char*>(to.data()))) {
    return fail(errc::invalid_record, "snappy: block is damaged");
  }
  return {};
}

}  // namespace braidmq::model
