// Writes the Kafka wire format into a byte_buffer. Errors stick, as in wire_reader: generated code asks once, at the
// end, and the caller then drops what was written. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/uuid.hpp"
#include "protocol/errc.hpp"

namespace braidmq::protocol {

class wire_writer {
 public:
  wire_writer(byte_buffer& to, bool flexible) : to_(to), flexible_(flexible) {}

  bool ok() const { return !failed_; }
  bool flexible() const { return flexible_; }
  void fail(errc code, std::string text);
  // The field is set but this version cannot carry it; or is null, which this version cannot say.
  void fail_unsupported(std::string_view field) { fail(errc::unsupported_field, std::string(field)); }
  void fail_null(std::string_view field) { fail(errc::unexpected_null, std::string(field)); }
  status state(std::string_view what) const;

  template <class Int>
  void write_int(Int value) {
    to_.append_be(value);
  }
  void write_bool(bool value) { to_.append_be(static_cast<std::uint8_t>(value ? 1 : 0)); }
  void write_float64(double value);
  void write_uuid(const uuid& id);
  void write_unsigned_varint(std::uint32_t value);

  void write_string(std::string_view text);
  void write_nullable_string(const std::optional<std::string>& text);
  void write_classic_nullable_string(const std::optional<std::string>& text);
  void write_bytes(byte_view block);
  void write_nullable_bytes(const std::optional<bytes>& block);
  void write_array_count(std::size_t count) { write_block_length(count); }
  void write_null_array() { write_null_block(); }
  void write_struct_presence(bool present) { write_int<std::int8_t>(present ? 1 : -1); }

  // A tagged field is written between these two; what comes between is measured by end_tagged_field. They nest.
  std::size_t begin_tagged_field(std::uint32_t tag);
  void end_tagged_field(std::size_t begin);

 private:
  void write_block_length(std::size_t length);
  void write_null_block();

  byte_buffer& to_;
  bool flexible_;
  bool failed_ = false;
  error error_;
};

}  // namespace braidmq::protocol
