#include "model/record.hpp"

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/endian.hpp"
#include "base/varint.hpp"
#include "model/record_batch.hpp"

namespace braidmq::model {
namespace {

// Takes values off the front of a view. After the first value that is not there, `ok` is false and stays so.
struct cursor {
  byte_view rest;
  bool ok = true;

  std::int64_t varlong() {
    const auto raw = decode_unsigned_varint<std::uint64_t>(rest);
    if (!raw) return refuse();
    rest = rest.subspan(raw->length);
    return zigzag_decode(raw->value);
  }
  std::int32_t varint() {
    const auto raw = decode_unsigned_varint<std::uint32_t>(rest);
    if (!raw) return static_cast<std::int32_t>(refuse());
    rest = rest.subspan(raw->length);
    return zigzag_decode32(raw->value);
  }
  byte_view take(std::int32_t count) {
    if (count < 0 || static_cast<std::size_t>(count) > rest.size()) {
      refuse();
      return {};
    }
    const byte_view taken = rest.first(static_cast<std::size_t>(count));
    rest = rest.subspan(taken.size());
    return taken;
  }
  std::optional<byte_view> nullable() {
    const std::int32_t size = varint();
    if (!ok || size == -1) return std::nullopt;
    return take(size);
  }

 private:
  std::int64_t refuse() {
    ok = false;
    rest = {};
    return 0;
  }
};

record_header_view take_header(cursor& from) {
  record_header_view header;
  header.key = as_string_view(from.take(from.varint()));  // a header's key is never null
  header.value = from.nullable();
  return header;
}

}  // namespace

std::optional<record_header_view> record_header_reader::next() {
  if (left_ == 0) return std::nullopt;
  cursor from{rest_};
  const record_header_view header = take_header(from);
  BRAID_CHECK(from.ok, "a parsed record's headers changed");
  rest_ = from.rest;
  --left_;
  return header;
}

result<record_view> parse_record(byte_view from) {
  cursor outer{from};
  const byte_view body = outer.take(outer.varint());
  if (!outer.ok || body.empty()) return fail(errc::invalid_record, "record length is wrong or beyond the batch");

  cursor inner{body.subspan(1)};  // record attributes: no bit of them has a meaning yet
  record_view record;
  record.timestamp_delta = inner.varlong();
  record.offset_delta = inner.varint();
  record.key = inner.nullable();
  record.value = inner.nullable();
  record.header_count = inner.varint();
  if (!inner.ok) return fail(errc::invalid_record, "record fields run beyond its length");
  if (record.header_count < 0 || static_cast<std::size_t>(record.header_count) > inner.rest.size() / 2) {
    return fail(errc::invalid_record,
                fmt::format("header count {} in {} bytes", record.header_count, inner.rest.size()));
  }
  record.header_block = inner.rest;
  for (std::int32_t i = 0; i < record.header_count && inner.ok; ++i) take_header(inner);
  if (!inner.ok) return fail(errc::invalid_record, "record headers run beyond its length");
  if (!inner.rest.empty()) return fail(errc::invalid_record, "record is shorter than its length");
  record.size_bytes = from.size() - outer.rest.size();
  return record;
}

result<std::optional<record_view>> record_reader::next() {
  if (left_ <= 0) {
    if (!rest_.empty()) return fail(errc::invalid_record, fmt::format("{} bytes after the last record", rest_.size()));
    return std::optional<record_view>{};
  }
  BRAID_TRY(record, parse_record(rest_));
  rest_ = rest_.subspan(record.size_bytes);
  --left_;
  return std::optional<record_view>{record};
}

result<std::optional<end_marker>> parse_end_marker(byte_view batch) {
  BRAID_TRY(header, parse_batch_header(batch));
  if (!header.is_control() || header.codec() != compression::none || header.record_count < 1 ||
      batch.size() < header.size_bytes()) {
    return std::optional<end_marker>{};
  }
  BRAID_TRY(record, parse_record(batch.first(header.size_bytes()).subspan(batch_layout::header_bytes)));
  // Later versions may append fields but never change these.
  constexpr std::size_t key_bytes = 4;    // version, type
  constexpr std::size_t value_bytes = 6;  // version, coordinator epoch
  if (!record.key || record.key->size() < key_bytes) return fail(errc::invalid_record, "control record without a key");
  const auto type = load_be<std::int16_t>(record.key->data() + 2);
  if (type != static_cast<std::int16_t>(control_type::abort) &&
      type != static_cast<std::int16_t>(control_type::commit)) {
    return std::optional<end_marker>{};
  }
  if (!record.value || record.value->size() < value_bytes) {
    return fail(errc::invalid_record, "end marker without a coordinator epoch");
  }
  return std::optional<end_marker>{
      end_marker{static_cast<control_type>(type), load_be<std::int32_t>(record.value->data() + 2)}};
}

}  // namespace braidmq::model
