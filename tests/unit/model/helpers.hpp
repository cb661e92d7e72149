// Batches for the tests of model, and ways to damage them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/endian.hpp"
#include "model/batch_builder.hpp"
#include "model/batch_validator.hpp"
#include "model/compression.hpp"
#include "model/record_batch.hpp"

namespace braidmq::model {

inline constexpr std::array all_codecs = {compression::none, compression::gzip, compression::snappy, compression::lz4,
                                          compression::zstd};
inline constexpr std::int64_t test_now_ms = 1'700'000'000'000;

using block = std::vector<std::byte>;

inline block from_hex(std::string_view hex) {
  block out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<std::byte>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return out;
}

inline block copy(byte_view view) {
  return {view.begin(), view.end()};
}

inline validation_limits limits_at_now() {
  validation_limits limits;
  limits.now_ms = test_now_ms;
  return limits;
}

// Three plain records, as a client sends them.
inline block sample_batch(batch_options options = {}) {
  batch_builder builder(options);
  builder.add("k0", "value zero", test_now_ms)
      .add("k1", "value one", test_now_ms + 5)
      .add("k2", "two", test_now_ms - 5);
  return copy(builder.build().value().view());
}

template <class Int>
void put(block& batch, std::size_t at, Int value) {
  store_be(batch.data() + at, value);
}
// Renews the CRC, so that a test reaches what is checked behind it.
inline block& reseal(block& batch) {
  store_be(batch.data() + batch_layout::crc, compute_batch_crc(batch));
  return batch;
}

// A client's batch of these decoded or compressed record bytes, with right length and CRC.
inline block batch_of(byte_view payload, std::int32_t count, compression codec = compression::none) {
  block batch = sample_batch();
  batch.resize(batch_layout::header_bytes);
  batch.insert(batch.end(), payload.begin(), payload.end());
  put(batch, batch_layout::batch_length, static_cast<std::int32_t>(batch.size() - batch_layout::length_overhead));
  put(batch, batch_layout::attributes, static_cast<std::uint16_t>(codec));
  put(batch, batch_layout::last_offset_delta, count - 1);
  put(batch, batch_layout::record_count, count);
  return reseal(batch);
}

inline std::string outcome(const result<validated_batch>& got) {
  return got ? "accepted" : got.error().to_string();
}

inline std::error_code code_of(byte_view records, const validation_limits& limits = limits_at_now()) {
  const auto got = validate_produce_records(records, limits);
  return got ? std::error_code{} : got.error().code;
}

}  // namespace braidmq::model
