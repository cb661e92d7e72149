// Row F12: small input that asks for much memory or time. Memory is measured; time follows from the output that a
// decoder makes before it stops, which is counted, and from input that it reads at most once.
#include <limits>

#include <gtest/gtest.h>
#include <lz4frame.h>
#include <snappy.h>
#include <zlib.h>

#include "allocation_meter.hpp"
#include "helpers.hpp"

namespace braidmq::model {
namespace {

constexpr std::size_t mib = 1U << 20U;
constexpr std::size_t max_batch = mib + 100;

// The start of a record that claims to hold 2 GB, so that the scanner has to go on through the zeros that follow.
block endless_record() {
  return from_hex(
      "feffffff0f"
      "00"
      "00"
      "00"
      "01"
      "e0ffffff0f");  // length 2^31-1, null key, value 2^31-16
}

validation_limits bomb_limits() {
  validation_limits limits = limits_at_now();
  limits.max_batch_bytes = max_batch;
  limits.zstd_window_log_max = 20;
  return limits;
}

void append(block& to, byte_view more) {
  to.insert(to.end(), more.begin(), more.end());
}
block xerial_header() {
  return from_hex(
      "82534e415050590000000001"
      "00000001");
}
template <class Int>
void append_le(block& to, Int value) {
  for (std::size_t i = 0; i < sizeof(Int); ++i) to.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xffU));
}

// Sums what a decoder gives before it refuses.
std::size_t output_before_refusal(compression codec, byte_view from, const decode_limits& limits) {
  const auto source = make_decoder(codec, from, limits);
  std::size_t total = 0;
  for (;;) {
    const auto window = source->next();
    if (!window) return total;
    if (window->empty()) {
      ADD_FAILURE() << "a bomb was decoded to its end";
      return total;
    }
    total += window->size();
  }
}

// Peak memory of validation stays within twice the batch limit (plus what the codec itself needs), and the validator
// stops at the limit of decoded bytes.
void expect_defused(compression codec, byte_view payload, std::size_t codec_bytes) {
  ASSERT_LE(payload.size() + batch_layout::header_bytes, max_batch);
  const block batch = batch_of(payload, 1, codec);
  const validation_limits limits = bomb_limits();
  const allocation_meter meter;
  const auto got = validate_produce_records(batch, limits);
  EXPECT_LE(meter.peak_bytes(), 2 * max_batch + codec_bytes);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::message_too_large) << outcome(got);

  decode_limits decode;
  decode.max_output_bytes = 4 * mib;
  decode.max_chunk_bytes = mib;
  const std::size_t output = output_before_refusal(codec, payload, decode);
  EXPECT_LE(output, decode.max_output_bytes);
  EXPECT_GT(output, 0U) << "the stream itself is sound";

  const allocation_meter whole;
  const auto all = decompress(codec, payload, 4 * mib);
  EXPECT_LE(whole.peak_bytes(), 4 * mib + codec_bytes + 128 * 1024);
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, errc::message_too_large);
}

TEST(BadInput, F12_gzip_bomb) {
  // One flushed megabyte of zeros can stand any number of times in a stream: a full flush forgets what was before.
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
  block compressed(mib);
  const auto deflate_some = [&](byte_view from) {
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(from.data()));
    stream.avail_in = static_cast<uInt>(from.size());
    stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
    stream.avail_out = static_cast<uInt>(compressed.size());
    EXPECT_EQ(deflate(&stream, Z_FULL_FLUSH), Z_OK);
    return byte_view(compressed).first(compressed.size() - stream.avail_out);
  };
  block bomb;
  append(bomb, deflate_some(endless_record()));
  const block zeros(mib);
  const block megabyte = copy(deflate_some(zeros));
  deflateEnd(&stream);
  ASSERT_LT(megabyte.size(), 1100U);
  while (bomb.size() + megabyte.size() < mib) append(bomb, megabyte);
  expect_defused(compression::gzip, bomb, 128 * 1024);
}

TEST(BadInput, F12_snappy_bomb) {
  block bomb;
  append(bomb, xerial_header());
  const auto add_chunk = [&bomb](byte_view from) {
    std::string chunk;
    snappy::Compress(reinterpret_cast<const char*>(from.data()), from.size(), &chunk);
    block length(4);
    put(length, 0, static_cast<std::int32_t>(chunk.size()));
    append(bomb, length);
    append(bomb, as_byte_view(chunk));
  };
  add_chunk(endless_record());
  const block zeros(mib);
  while (bomb.size() + 52'000 < mib) add_chunk(zeros);
  // About 20 MiB come out of 1 MiB, snappy can do no more; the limit of decoded bytes is therefore put below.
  const block batch = batch_of(bomb, 1, compression::snappy);
  validation_limits limits = bomb_limits();
  limits.max_decoded_bytes = 8 * mib;
  const allocation_meter meter;
  const auto got = validate_produce_records(batch, limits);
  EXPECT_LE(meter.peak_bytes(), 2 * max_batch);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::message_too_large) << outcome(got);
}

TEST(BadInput, F12_lz4_bomb) {
  block decoded = endless_record();
  decoded.resize(40 * mib);
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = LZ4F_max4MB;
  block bomb(LZ4F_compressFrameBound(decoded.size(), &preferences));
  bomb.resize(LZ4F_compressFrame(bomb.data(), bomb.size(), decoded.data(), decoded.size(), &preferences));
  constexpr std::size_t two_blocks_of_4_mib = 8 * mib + 300 * 1024;
  expect_defused(compression::lz4, bomb, two_blocks_of_4_mib);
}

// 262,000 blocks that repeat one byte 128 KiB times, each in 4 bytes: 32 GiB in 1 MiB.
block zstd_bomb(std::uint8_t window_descriptor) {
  block bomb;
  append_le(bomb, std::uint32_t{0xFD2FB528});
  bomb.push_back(std::byte{0});  // no content size, no checksum, a window descriptor
  bomb.push_back(static_cast<std::byte>(window_descriptor));
  const block prefix = endless_record();
  const auto raw_block = static_cast<std::uint32_t>(prefix.size() << 3U);
  for (int shift = 0; shift < 24; shift += 8) bomb.push_back(static_cast<std::byte>((raw_block >> shift) & 0xffU));
  append(bomb, prefix);
  constexpr std::uint32_t repeat_block = ((128U << 10U) << 3U) | (1U << 1U);
  while (bomb.size() + 4 < mib) {
    for (int shift = 0; shift < 24; shift += 8) bomb.push_back(static_cast<std::byte>((repeat_block >> shift) & 0xffU));
    bomb.push_back(std::byte{0});
  }
  return bomb;
}

constexpr std::uint8_t window_log(int log) {
  return static_cast<std::uint8_t>((log - 10) << 3);
}

TEST(BadInput, F12_zstd_bomb) {
  expect_defused(compression::zstd, zstd_bomb(window_log(20)), 2 * mib);
}

TEST(BadInput, F12_zstd_huge_window) {
  for (const int log : {21, 27, 31, 41}) {
    const block batch = batch_of(zstd_bomb(window_log(log)), 1, compression::zstd);
    const allocation_meter meter;
    const auto got = validate_produce_records(batch, bomb_limits());
    EXPECT_LE(meter.peak_bytes(), 512U * 1024) << "the window was not allocated";
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::message_too_large) << log << ": " << outcome(got);
  }
  // The default admits what level 19 needs, at 8 MiB of memory.
  validation_limits limits = limits_at_now();
  limits.max_batch_bytes = max_batch;
  const block batch = batch_of(zstd_bomb(window_log(23)), 1, compression::zstd);
  const allocation_meter meter;
  EXPECT_EQ(code_of(batch, limits), errc::message_too_large);
  EXPECT_LE(meter.peak_bytes(), 8 * mib + 512 * 1024);
  EXPECT_GT(meter.peak_bytes(), 8 * mib) << "or the window of the other cases was not what was refused";
}

TEST(BadInput, F12_skippable_frames) {
  for (const compression codec : {compression::zstd, compression::lz4}) {
    block flood;
    while (flood.size() + 8 < mib) {
      append_le(flood, std::uint32_t{0x184D2A50});
      append_le(flood, std::uint32_t{0});
    }
    EXPECT_EQ(code_of(batch_of(flood, 1, codec), bomb_limits()), errc::invalid_record);
    // Also behind a good frame.
    const block one_record = from_hex("0c000000010100");
    block behind = copy(compress(codec, one_record).value());
    append(behind, byte_view(flood).first(8));
    EXPECT_EQ(code_of(batch_of(behind, 1, codec), bomb_limits()), errc::invalid_record);
  }
}

TEST(BadInput, F12_endless_members) {
  for (const compression codec : {compression::gzip, compression::zstd}) {
    const block empty_member = copy(compress(codec, {}).value());
    const block one_record = copy(compress(codec, from_hex("0c000000010100")).value());
    block flood;
    while (flood.size() + empty_member.size() < mib / 4) append(flood, empty_member);
    EXPECT_EQ(code_of(batch_of(flood, 1, codec)), errc::invalid_record);
    // A few members are one stream, as everywhere.
    block few;
    for (int i = 0; i < 10; ++i) append(few, empty_member);
    append(few, one_record);
    EXPECT_EQ(code_of(batch_of(few, 1, codec)), std::error_code{});
  }
}

TEST(BadInput, F12_declared_chunk_lengths) {
  const auto framed = [](std::string_view hex) {
    block payload = xerial_header();
    append(payload, from_hex(hex));
    return batch_of(payload, 1, compression::snappy);
  };
  // Peak of `what`; its result is compared with `want`.
  const auto check = [](const block& batch, errc want) {
    const allocation_meter meter;
    EXPECT_EQ(code_of(batch, bomb_limits()), want);
    EXPECT_LE(meter.peak_bytes(), 200U * 1024);
  };
  check(framed("7fffffff00"), errc::invalid_record);          // a chunk longer than the payload
  check(framed("ffffffff00"), errc::invalid_record);          // a negative length
  check(framed("0000000000"), errc::invalid_record);          // an empty chunk
  check(framed("000000"), errc::invalid_record);              // half a length
  check(framed("00000005ffffffff0f"), errc::invalid_record);  // 4 GiB in no bytes
  check(batch_of(from_hex("ffffffff0f00"), 1, compression::snappy), errc::invalid_record);  // the same, raw
  block possible = from_hex("80808002");  // 4 MiB in 1 MB: possible, but one chunk above 2 x max_batch_bytes
  possible.resize(1'000'000);
  check(batch_of(possible, 1, compression::snappy), errc::message_too_large);
}

TEST(BadInput, F12_counts_allocate_nothing) {
  const std::int32_t most = std::numeric_limits<std::int32_t>::max();
  const block batch = batch_of(from_hex("0c000000010100"), most);
  const allocation_meter meter;
  EXPECT_EQ(code_of(batch), errc::invalid_record);
  EXPECT_LE(meter.peak_bytes(), 4096U);
}

// The meter must see what C++ and the C libraries take, or the tests above say nothing.
TEST(AllocationMeter, SeesTheHeap) {
  const allocation_meter meter;
  const auto big = std::make_unique<std::byte[]>(3 * mib);
  EXPECT_GE(meter.peak_bytes(), 3 * mib);
  EXPECT_NE(big, nullptr);
  const allocation_meter second;
  EXPECT_LT(second.peak_bytes(), mib);
  EXPECT_TRUE(decompress(compression::gzip, compress(compression::gzip, as_byte_view("x")).value(), 10));
  EXPECT_GT(second.peak_bytes(), 32U * 1024) << "zlib's window";
}

}  // namespace
}  // namespace braidmq::model
