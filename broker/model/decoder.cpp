// The streaming half of compression.hpp.
#define ZLIB_CONST
#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/check.hpp"
#include "base/endian.hpp"
#include "model/compression.hpp"
#include "model/snappy_chunks.hpp"

namespace braidmq::model {
namespace {

constexpr std::size_t window_bytes = 32U << 10U;

std::unique_ptr<std::byte[]> make_block(std::size_t size) {
  return std::make_unique_for_overwrite<std::byte[]>(size);
}

std::uint32_t load_le32(byte_view from) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = (value << 8U) | std::to_integer<std::uint32_t>(from[i]);
  return value;
}

bool starts_with_le32(byte_view from, std::uint32_t magic) {
  return from.size() >= 4 && load_le32(from) == magic;
}

class plain_decoder final : public decoder {
 public:
  plain_decoder(byte_view from, const decode_limits& limits) : decoder(limits.max_output_bytes), from_(from) {}

 private:
  result<byte_view> produce() override { return std::exchange(from_, {}); }

  byte_view from_;
};

class snappy_decoder final : public decoder {
 public:
  snappy_decoder(byte_view from, const decode_limits& limits)
      : decoder(limits.max_output_bytes), chunks_(from, limits.max_output_bytes, limits.max_chunk_bytes) {}

 private:
  result<byte_view> produce() override {
    for (;;) {
      BRAID_TRY(chunk, chunks_.next());
      if (!chunk) return byte_view{};
      if (chunk->decoded_bytes > capacity_) {
        block_.reset();  // before the larger one is there
        capacity_ = std::max(chunk->decoded_bytes, std::min(capacity_ * 2, window_bytes));
        block_ = make_block(capacity_);
      }
      const mutable_byte_view out(block_.get(), chunk->decoded_bytes);
      BRAID_TRY_VOID(decode_snappy_chunk(*chunk, out));
      if (!out.empty()) return byte_view(out);
    }
  }

  snappy_chunks chunks_;
  std::unique_ptr<std::byte[]> block_;
  std::size_t capacity_ = 0;
};

class gzip_decoder final : public decoder {
 public:
  gzip_decoder(byte_view from, const decode_limits& limits)
      : decoder(limits.max_output_bytes),
        rest_(from),
        members_left_(limits.max_members),
        block_(make_block(window_bytes)) {
    constexpr int gzip_only = 16 + MAX_WBITS;
    BRAID_CHECK(inflateInit2(&stream_, gzip_only) == Z_OK, "out of memory");
  }
  ~gzip_decoder() override { inflateEnd(&stream_); }

 private:
  result<byte_view> produce() override {
    while (!done_) {
      if (!in_member_) {
        if (members_left_-- == 0) return fail(errc::invalid_record, "gzip: too many members");
        BRAID_CHECK(inflateReset(&stream_) == Z_OK);
        in_member_ = true;
      }
      BRAID_TRY(produced, inflate_some());
      if (produced > 0) return byte_view(block_.get(), produced);
    }
    return byte_view{};
  }

  result<std::size_t> inflate_some() {
    constexpr std::size_t max_step = 1U << 30U;  // zlib counts in unsigned int
    const auto step = static_cast<uInt>(std::min(rest_.size(), max_step));
    stream_.next_in = reinterpret_cast<const Bytef*>(rest_.data());
    stream_.avail_in = step;
    stream_.next_out = reinterpret_cast<Bytef*>(block_.get());
    stream_.avail_out = window_bytes;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    rest_ = rest_.subspan(step - stream_.avail_in);
    if (code == Z_STREAM_END) {
      in_member_ = false;
      done_ = rest_.empty();
    } else if (code == Z_BUF_ERROR) {
      return fail(errc::invalid_record, "gzip: stream is cut short");
    } else if (code != Z_OK) {
      return fail(errc::invalid_record, fmt::format("gzip: {}", stream_.msg != nullptr ? stream_.msg : "bad stream"));
    }
    return window_bytes - stream_.avail_out;
  }

  byte_view rest_;
  int members_left_;
  bool in_member_ = false;
  bool done_ = false;
  z_stream stream_{};
  std::unique_ptr<std::byte[]> block_;
};

class lz4_decoder final : public decoder {
 public:
  lz4_decoder(byte_view from, const decode_limits& limits)
      : decoder(limits.max_output_bytes), rest_(from), block_(make_block(window_bytes)) {
    BRAID_CHECK(LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)) == 0, "out of memory");
  }
  ~lz4_decoder() override { LZ4F_freeDecompressionContext(context_); }

 private:
  result<byte_view> produce() override {
    constexpr std::uint32_t frame_magic = 0x184D2204;
    if (!started_ && !starts_with_le32(rest_, frame_magic)) {
      return fail(errc::invalid_record, "lz4: no frame at the start");  // a skippable frame is none
    }
    started_ = true;
    while (!done_) {
      std::size_t produced = window_bytes;
      std::size_t consumed = rest_.size();
      const std::size_t hint = LZ4F_decompress(context_, block_.get(), &produced, rest_.data(), &consumed, nullptr);
      if (LZ4F_isError(hint) != 0) return fail(errc::invalid_record, fmt::format("lz4: {}", LZ4F_getErrorName(hint)));
      rest_ = rest_.subspan(consumed);
      done_ = hint == 0;
      if (done_ && !rest_.empty()) return fail(errc::invalid_record, "lz4: bytes after the frame");
      if (produced > 0) return byte_view(block_.get(), produced);
      if (!done_ && consumed == 0) return fail(errc::invalid_record, "lz4: frame is cut short");
    }
    return byte_view{};
  }

  byte_view rest_;
  bool started_ = false;
  bool done_ = false;
  LZ4F_dctx* context_ = nullptr;
  std::unique_ptr<std::byte[]> block_;
};

class zstd_decoder final : public decoder {
 public:
  zstd_decoder(byte_view from, const decode_limits& limits)
      : decoder(limits.max_output_bytes),
        rest_(from),
        frames_left_(limits.max_members),
        context_(ZSTD_createDCtx()),
        block_(make_block(window_bytes)) {
    BRAID_CHECK(context_ != nullptr, "out of memory");
    const auto bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    const int window_log = std::clamp(limits.zstd_window_log_max, bounds.lowerBound, bounds.upperBound);
    ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, window_log);
  }
  ~zstd_decoder() override { ZSTD_freeDCtx(context_); }

 private:
  result<byte_view> produce() override {
    while (!done_) {
      if (!in_frame_) BRAID_TRY_VOID(start_frame());
      ZSTD_inBuffer in{rest_.data(), rest_.size(), 0};
      ZSTD_outBuffer out{block_.get(), window_bytes, 0};
      const std::size_t hint = ZSTD_decompressStream(context_, &out, &in);
      if (ZSTD_isError(hint) != 0) return refuse(hint);
      rest_ = rest_.subspan(in.pos);
      if (hint == 0) {
        in_frame_ = false;
        done_ = rest_.empty();
      }
      if (out.pos > 0) return byte_view(block_.get(), out.pos);
      if (hint != 0 && in.pos == 0) return fail(errc::invalid_record, "zstd: frame is cut short");
    }
    return byte_view{};
  }

  status start_frame() {
    if (!starts_with_le32(rest_, ZSTD_MAGICNUMBER)) {
      return fail(errc::invalid_record, "zstd: no frame where one should start");  // a skippable frame is none
    }
    if (frames_left_-- == 0) return fail(errc::invalid_record, "zstd: too many frames");
    in_frame_ = true;
    return {};
  }

  static tl::unexpected<error> refuse(std::size_t code) {
    if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge) {
      return fail(errc::message_too_large, "zstd: the frame needs a window above the limit");
    }
    return fail(errc::invalid_record, fmt::format("zstd: {}", ZSTD_getErrorName(code)));
  }

  byte_view rest_;
  int frames_left_;
  bool in_frame_ = false;
  bool done_ = false;
  ZSTD_DCtx* context_;
  std::unique_ptr<std::byte[]> block_;
};

}  // namespace

result<byte_view> decoder::next() {
  BRAID_TRY(window, produce());
  if (window.size() > output_left_) {
    return fail(errc::message_too_large, "the records decode to more than the limit");
  }
  output_left_ -= window.size();
  return window;
}

std::unique_ptr<decoder> make_decoder(compression codec, byte_view from, const decode_limits& limits) {
  switch (codec) {
    case compression::none:
      break;
    case compression::gzip:
      return std::make_unique<gzip_decoder>(from, limits);
    case compression::snappy:
      return std::make_unique<snappy_decoder>(from, limits);
    case compression::lz4:
      return std::make_unique<lz4_decoder>(from, limits);
    case compression::zstd:
      return std::make_unique<zstd_decoder>(from, limits);
  }
  return std::make_unique<plain_decoder>(from, limits);
}

}  // namespace braidmq::model
