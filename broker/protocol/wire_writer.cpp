#include "protocol/wire_writer.hpp"

#include <bit>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/varint.hpp"
#include "protocol/wire_reader.hpp"

namespace braidmq::protocol {

void wire_writer::fail(errc code, std::string text) {
  if (failed_) return;
  failed_ = true;
  error_ = error{make_error_code(code), std::move(text)};
}

status wire_writer::state(std::string_view what) const {
  if (!failed_) return {};
  return tl::unexpected<error>(with_context(error_, std::string(what)));
}

void wire_writer::write_float64(double value) {
  to_.append_be(std::bit_cast<std::uint64_t>(value));
}

void wire_writer::write_uuid(const uuid& id) {
  to_.append(std::as_bytes(std::span(id.octets)));
}

void wire_writer::write_unsigned_varint(std::uint32_t value) {
  append_unsigned_varint(to_, value);
}

void wire_writer::write_string(std::string_view text) {
  if (text.size() > max_string_size_bytes) return fail(errc::too_long, fmt::format("string of {} bytes", text.size()));
  if (flexible_) {
    write_unsigned_varint(static_cast<std::uint32_t>(text.size()) + 1);
  } else {
    write_int(static_cast<std::int16_t>(text.size()));
  }
  to_.append(text);
}

void wire_writer::write_nullable_string(const std::optional<std::string>& text) {
  if (text) return write_string(*text);
  if (flexible_) return write_unsigned_varint(0);
  write_int<std::int16_t>(-1);
}

void wire_writer::write_classic_nullable_string(const std::optional<std::string>& text) {
  if (!text) return write_int<std::int16_t>(-1);
  if (text->size() > max_string_size_bytes) {
    return fail(errc::too_long, fmt::format("string of {} bytes", text->size()));
  }
  write_int(static_cast<std::int16_t>(text->size()));
  to_.append(*text);
}

void wire_writer::write_block_length(std::size_t length) {
  if (length > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    return fail(errc::too_long, fmt::format("length {}", length));
  }
  if (flexible_) {
    write_unsigned_varint(static_cast<std::uint32_t>(length) + 1);
  } else {
    write_int(static_cast<std::int32_t>(length));
  }
}

void wire_writer::write_null_block() {
  if (flexible_) return write_unsigned_varint(0);
  write_int<std::int32_t>(-1);
}

void wire_writer::write_bytes(byte_view block) {
  write_block_length(block.size());
  if (ok()) to_.append(block);
}

void wire_writer::write_nullable_bytes(const std::optional<bytes>& block) {
  if (!block) return write_null_block();
  write_bytes(*block);
}

std::size_t wire_writer::begin_tagged_field(std::uint32_t tag) {
  write_unsigned_varint(tag);
  return to_.size();
}

// The size stands before the field and its own length depends on it, so the field moves up by that much. Tagged fields
// are small.
void wire_writer::end_tagged_field(std::size_t begin) {
  const std::size_t size = to_.size() - begin;
  if (size > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    return fail(errc::too_long, fmt::format("tagged field of {} bytes", size));
  }
  byte_buffer prefix;
  append_unsigned_varint(prefix, size);
  to_.append_zeros(prefix.size());
  std::byte* const at = to_.mutable_view().data() + begin;
  std::memmove(at + prefix.size(), at, size);
  std::memcpy(at, prefix.view().data(), prefix.size());
}

}  // namespace braidmq::protocol
