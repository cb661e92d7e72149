// Random batches and random damage. Seeds are fixed, so that a failure comes again.
#include <random>

#include <gtest/gtest.h>

#include "helpers.hpp"
#include "model/record.hpp"
#include "model/record_search.hpp"

namespace braidmq::model {
namespace {

struct plain_record {
  std::int64_t timestamp_ms = 0;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers;

  friend bool operator==(const plain_record&, const plain_record&) = default;
};

class source {
 public:
  explicit source(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::string text() {
    // Mostly short, at times longer than a decoder's window.
    std::string out(below(40) == 0 ? below(100'000) : below(60), ' ');
    for (char& c : out) c = static_cast<char>(below(4) == 0 ? random_() : 'x');
    return out;
  }
  std::optional<std::string> maybe_text() { return below(5) == 0 ? std::nullopt : std::optional(text()); }
  plain_record record() {
    plain_record out;
    out.timestamp_ms = test_now_ms - static_cast<std::int64_t>(below(1'000'000)) + 500'000;
    out.key = maybe_text();
    out.value = maybe_text();
    for (std::size_t i = below(4); i > 0; --i) out.headers.emplace_back(text(), maybe_text());
    return out;
  }
  std::vector<plain_record> records() {
    std::vector<plain_record> out(1 + below(30));
    for (auto& record : out) record = this->record();
    return out;
  }

 private:
  std::mt19937 random_;
};

std::optional<byte_view> view_of(const std::optional<std::string>& text) {
  return text ? std::optional(as_byte_view(*text)) : std::nullopt;
}
std::optional<std::string> text_of(const std::optional<byte_view>& view) {
  return view ? std::optional(std::string(as_string_view(*view))) : std::nullopt;
}

bytes encode(const std::vector<plain_record>& records, const batch_options& options) {
  batch_builder builder(options);
  for (const auto& record : records) {
    std::vector<record_header_view> headers;
    for (const auto& [key, value] : record.headers) headers.push_back({key, view_of(value)});
    builder.add({record.timestamp_ms, view_of(record.key), view_of(record.value), headers});
  }
  return builder.build().value();
}

std::vector<plain_record> decode(byte_view batch) {
  const auto header = check_whole_batch(batch).value();
  const bytes decoded = decompress(*header.codec(), batch.subspan(batch_layout::header_bytes), 64U << 20U).value();
  std::vector<plain_record> out;
  record_reader reader(decoded, header.record_count);
  for (;;) {
    const auto record = reader.next().value();
    if (!record) return out;
    plain_record plain{
        header.base_timestamp_ms + record->timestamp_delta, text_of(record->key), text_of(record->value), {}};
    auto headers = record->headers();
    while (const auto next = headers.next()) plain.headers.emplace_back(std::string(next->key), text_of(next->value));
    EXPECT_EQ(record->offset_delta, static_cast<std::int32_t>(out.size()));
    out.push_back(std::move(plain));
  }
}

TEST(Property, RandomBatchesRoundTripWithEveryCodec) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    source random(seed);
    const auto records = random.records();
    for (const compression codec : all_codecs) {
      batch_options options;
      options.codec = codec;
      const bytes batch = encode(records, options);
      EXPECT_EQ(decode(batch), records) << seed << ' ' << compression_name(codec);

      validation_limits limits = limits_at_now();
      limits.max_batch_bytes = 64U << 20U;
      const auto got = validate_produce_records(batch, limits);
      ASSERT_TRUE(got) << seed << ' ' << compression_name(codec) << ": " << outcome(got);
      std::size_t latest = 0;
      for (std::size_t i = 0; i < records.size(); ++i) {
        if (records[i].timestamp_ms > records[latest].timestamp_ms) latest = i;
      }
      EXPECT_EQ(got->max_timestamp_ms, records[latest].timestamp_ms);
      EXPECT_EQ(got->max_timestamp_offset_delta, static_cast<std::int32_t>(latest));
      EXPECT_FALSE(got->max_timestamp_is_wrong);
      EXPECT_EQ(got->record_count, static_cast<std::int32_t>(records.size()));
    }
  }
}

// L6: an answer by time equals a full scan of the records.
TEST(Property, SearchEqualsAFullScan) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    source random(seed);
    const auto records = random.records();
    batch_options options;
    options.codec = all_codecs[seed % all_codecs.size()];
    options.base_offset = offset(1000);
    const bytes batch = encode(records, options);
    for (const auto& probe : records) {
      for (const std::int64_t time : {probe.timestamp_ms - 1, probe.timestamp_ms, probe.timestamp_ms + 1}) {
        std::optional<timestamped_offset> want;
        for (std::size_t i = 0; i < records.size() && !want; ++i) {
          if (records[i].timestamp_ms >= time) {
            want = timestamped_offset{offset(1000 + static_cast<std::int64_t>(i)), records[i].timestamp_ms};
          }
        }
        EXPECT_EQ(find_first_at_or_after(batch, time, offset(0), {}).value(), want) << seed;
      }
    }
  }
}

TEST(Property, EveryChangedBitOfTheBodyIsFound) {
  for (const compression codec : all_codecs) {
    batch_options options;
    options.codec = codec;
    block batch = sample_batch(options);
    for (std::size_t at = batch_layout::crc; at < batch.size(); ++at) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        batch[at] ^= static_cast<std::byte>(1U << bit);
        EXPECT_FALSE(batch_crc_matches(batch)) << at;
        EXPECT_NE(code_of(batch), std::error_code{}) << at;
        batch[at] ^= static_cast<std::byte>(1U << bit);
      }
    }
    EXPECT_EQ(code_of(batch), std::error_code{}) << "all changes were taken back";
  }
}

void read_everything(byte_view data) {
  decode_limits limits;
  limits.max_output_bytes = 1U << 20U;
  limits.max_chunk_bytes = 1U << 18U;
  batch_reader reader(data);
  for (;;) {
    const auto batch = reader.next();
    if (!batch || !*batch) break;
    (void)parse_end_marker((*batch)->data);
    (void)find_max_timestamp((*batch)->data, limits);
  }
  validation_limits validation = limits_at_now();
  validation.max_decoded_bytes = limits.max_output_bytes;
  (void)validate_produce_records(data, validation);
}

// Damage behind a right CRC: the parsers may say what they like, they may not crash or read beyond their input.
TEST(Property, RandomDamageNeverCrashes) {
  std::size_t refused = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    source random(seed);
    batch_options options;
    options.codec = all_codecs[seed % all_codecs.size()];
    block batch = sample_batch(options);
    for (std::size_t changes = 1 + random.below(4); changes > 0; --changes) {
      batch[random.below(batch.size())] = static_cast<std::byte>(random.below(256));
    }
    if (random.below(4) == 0) batch.resize(batch_layout::header_bytes + random.below(batch.size()));
    if (random.below(2) == 0) {
      put(batch, batch_layout::batch_length, static_cast<std::int32_t>(batch.size() - batch_layout::length_overhead));
    }
    reseal(batch);
    // An exact copy on the heap lets the sanitizer see a read past the end.
    const block exact(batch.begin(), batch.end());
    read_everything(exact);
    if (code_of(exact) != std::error_code{}) ++refused;
  }
  EXPECT_GT(refused, 1000U) << "most damage is behind the CRC on purpose and is still refused";
}

TEST(Property, DamagedStreamsNeverCrash) {
  source random(7);
  const block in = copy(as_byte_view(random.text() + std::string(20'000, 'a') + random.text()));
  for (const compression codec : {compression::gzip, compression::snappy, compression::lz4, compression::zstd}) {
    const bytes good = compress(codec, in).value();
    for (int round = 0; round < 200; ++round) {
      block bad = copy(good);
      for (int changes = 0; changes < 3; ++changes) {
        bad[random.below(bad.size())] = static_cast<std::byte>(random.below(256));
      }
      const auto got = decompress(codec, bad, 1U << 18U);
      if (got) EXPECT_LE(got->size(), 1U << 18U);
    }
  }
}

}  // namespace
}  // namespace braidmq::model
