// Looks at each record of a batch while it is decoded: sizes, deltas, shape; keys and values are passed over. Memory
// does not grow with the batch, so arbitrary input may be scanned within `decode_limits`.
//
// Owner: one thread. Errors: invalid_record, and those of the decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "model/compression.hpp"
#include "model/record.hpp"
#include "model/record_batch.hpp"

namespace braidmq::model {

struct record_shape {
  std::int64_t timestamp_delta = 0;
  std::int32_t offset_delta = 0;
  std::int32_t key_bytes = -1;    // -1: null
  std::int32_t value_bytes = -1;  // -1: null
  std::int32_t header_count = 0;
};

class record_scanner {
 public:
  // `records` is what follows the batch header; it must outlive the scanner.
  record_scanner(compression codec, byte_view records, std::int32_t record_count, const decode_limits& limits);

  // The next record; none after the last one, when nothing is left over in the decoded stream.
  result<std::optional<record_shape>> next();

  std::size_t decoded_bytes() const { return consumed_; }

 private:
  result<std::optional<record_shape>> read_thoroughly();
  result<bool> refill();
  status skip(std::uint64_t count);
  result<std::uint8_t> read_byte();
  result<std::uint64_t> read_unsigned(unsigned bits);
  result<std::int32_t> read_int();
  result<std::int32_t> read_field();
  status read_headers(std::int32_t count);
  status finish();

  std::unique_ptr<decoder> decoder_;
  byte_view window_;
  std::int32_t left_;
  std::size_t consumed_ = 0;
  std::uint64_t record_left_ = 0;  // bytes of the current record that were not read yet
};

}  // namespace braidmq::model
