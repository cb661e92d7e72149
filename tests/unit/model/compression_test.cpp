#include "model/compression.hpp"

#include <random>

#include <gtest/gtest.h>
#include <lz4frame.h>
#include <zstd.h>

#include "helpers.hpp"

namespace braidmq::model {
namespace {

block text(std::size_t size, unsigned seed = 1) {
  std::mt19937 random(seed);
  block out(size);
  for (auto& byte : out) byte = static_cast<std::byte>('a' + random() % 5);
  return out;
}

TEST(Compression, RoundTripsEverySize) {
  for (const compression codec : all_codecs) {
    for (const std::size_t size : {0UL, 1UL, 7UL, 1000UL, 32768UL, 32769UL, 65536UL, 1000000UL}) {
      const block in = text(size);
      const auto encoded = compress(codec, in);
      ASSERT_TRUE(encoded);
      const auto decoded = decompress(codec, *encoded, size);
      ASSERT_TRUE(decoded) << compression_name(codec) << ' ' << size << ": " << decoded.error().to_string();
      EXPECT_TRUE(std::ranges::equal(decoded->view(), in)) << compression_name(codec) << ' ' << size;
      if (size > 1000 && codec != compression::none) EXPECT_LT(encoded->size(), size);
    }
  }
}

TEST(Compression, LimitIsExact) {
  const block in = text(100'000);
  for (const compression codec : all_codecs) {
    const bytes encoded = compress(codec, in).value();
    EXPECT_TRUE(decompress(codec, encoded, in.size()));
    const auto refused = decompress(codec, encoded, in.size() - 1);
    ASSERT_FALSE(refused) << compression_name(codec);
    EXPECT_EQ(refused.error().code, errc::message_too_large);
  }
}

TEST(Compression, LevelsAreClamped) {
  const block in = text(5'000);
  for (const compression codec : all_codecs) {
    for (const int level : {-1000, -1, 0, 1, 5, 9, 17, 1000}) {
      const auto encoded = compress(codec, in, level);
      ASSERT_TRUE(encoded);
      EXPECT_TRUE(std::ranges::equal(decompress(codec, *encoded, in.size()).value().view(), in));
    }
  }
}

TEST(Compression, NamesAreKafkas) {
  EXPECT_EQ(compression_name(compression::none), "none");
  EXPECT_EQ(compression_name(compression::zstd), "zstd");
  for (const compression codec : all_codecs) EXPECT_EQ(parse_compression(compression_name(codec)), codec);
  EXPECT_EQ(parse_compression("brotli"), std::nullopt);
  EXPECT_EQ(parse_compression(""), std::nullopt);
}

TEST(Compression, EveryCutIsFound) {
  const block in = text(5000);
  for (const compression codec : {compression::gzip, compression::snappy, compression::lz4, compression::zstd}) {
    const bytes encoded = compress(codec, in).value();
    for (std::size_t size = 1; size < encoded.size(); ++size) {
      // Snappy's framing alone cannot tell that a whole chunk is missing; here there is one chunk.
      const auto got = decompress(codec, encoded.slice(0, size), in.size());
      if (codec == compression::snappy && size == 16) continue;  // framing without a chunk is an empty stream
      EXPECT_FALSE(got) << compression_name(codec) << ' ' << size;
    }
  }
}

// Frames as other clients write them: linked blocks, block and content checksums, content size.
TEST(Compression, ReadsEveryShapeOfLz4Frame) {
  const block in = text(300'000);
  for (const auto size_id : {LZ4F_max64KB, LZ4F_max256KB, LZ4F_max1MB, LZ4F_max4MB}) {
    for (const auto mode : {LZ4F_blockLinked, LZ4F_blockIndependent}) {
      LZ4F_preferences_t preferences{};
      preferences.frameInfo.blockSizeID = size_id;
      preferences.frameInfo.blockMode = mode;
      preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
      preferences.frameInfo.blockChecksumFlag = LZ4F_blockChecksumEnabled;
      preferences.frameInfo.contentSize = in.size();
      block encoded(LZ4F_compressFrameBound(in.size(), &preferences));
      encoded.resize(LZ4F_compressFrame(encoded.data(), encoded.size(), in.data(), in.size(), &preferences));
      const auto decoded = decompress(compression::lz4, encoded, in.size());
      ASSERT_TRUE(decoded) << decoded.error().to_string();
      EXPECT_TRUE(std::ranges::equal(decoded->view(), in));
      encoded.back() ^= std::byte{1};
      EXPECT_FALSE(decompress(compression::lz4, encoded, in.size())) << "content checksum";
    }
  }
}

// The Java client streams: the frame names no content size, so the window is that of the level: 2^21 for the default,
// 2^23 for levels 17 to 19, 2^25 for level 20.
TEST(Compression, ReadsStreamedZstdUpToTheWindowOfLevel19) {
  const block in = text(100'000);
  for (const int window_log : {17, 21, 23, 24, 25}) {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
    block encoded(ZSTD_compressBound(in.size()) + 64);
    ZSTD_outBuffer out{encoded.data(), encoded.size(), 0};
    ZSTD_inBuffer part{in.data(), in.size(), 0};
    ASSERT_EQ(ZSTD_isError(ZSTD_compressStream2(context, &out, &part, ZSTD_e_flush)), 0U);
    ASSERT_EQ(ZSTD_compressStream2(context, &out, &part, ZSTD_e_end), 0U);
    ZSTD_freeCCtx(context);
    encoded.resize(out.pos);
    const auto decoded = decompress(compression::zstd, encoded, in.size());
    if (window_log <= 23) {
      ASSERT_TRUE(decoded) << window_log << ": " << decoded.error().to_string();
      EXPECT_TRUE(std::ranges::equal(decoded->view(), in));
    } else {
      ASSERT_FALSE(decoded) << window_log;
      EXPECT_EQ(decoded.error().code, errc::message_too_large) << "a documented limit";
    }
  }
}

}  // namespace
}  // namespace braidmq::model
