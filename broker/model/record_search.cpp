#include "model/record_search.hpp"

#include <fmt/format.h>

#include "model/record_scanner.hpp"

namespace braidmq::model {
namespace {

// Calls `visit(offset, timestamp)` for each record until it returns false.
template <class Visit>
status for_each_record(byte_view batch, const decode_limits& limits, Visit visit) {
  BRAID_TRY(header, parse_batch_header(batch));
  const auto codec = header.codec();
  if (!codec) return fail(errc::unsupported_compression, fmt::format("codec id {}", header.codec_id()));
  if (header.size_bytes() > batch.size()) return fail(errc::incomplete_batch, "the batch is cut short");
  const byte_view records = batch.first(header.size_bytes()).subspan(batch_layout::header_bytes);
  if (header.record_count <= 0) return {};  // compaction took all records and kept the producer's state
  record_scanner scanner(*codec, records, header.record_count, limits);
  for (;;) {
    BRAID_TRY(record, scanner.next());
    if (!record) return {};
    std::int64_t timestamp_ms = header.max_timestamp_ms;
    if (header.timestamps() == timestamp_type::create_time &&
        __builtin_add_overflow(header.base_timestamp_ms, record->timestamp_delta, &timestamp_ms)) {
      return fail(errc::invalid_record, "a timestamp is out of range");
    }
    if (!visit(header.base_offset + record->offset_delta, timestamp_ms)) return {};
  }
}

}  // namespace

result<std::optional<timestamped_offset>> find_first_at_or_after(byte_view batch, std::int64_t timestamp_ms,
                                                                 offset from, const decode_limits& limits) {
  std::optional<timestamped_offset> found;
  BRAID_TRY_VOID(for_each_record(batch, limits, [&](offset at, std::int64_t record_ms) {
    if (record_ms >= timestamp_ms && at >= from) found = timestamped_offset{at, record_ms};
    return !found.has_value();
  }));
  return found;
}

result<std::optional<timestamped_offset>> find_max_timestamp(byte_view batch, const decode_limits& limits) {
  std::optional<timestamped_offset> found;
  BRAID_TRY_VOID(for_each_record(batch, limits, [&](offset at, std::int64_t record_ms) {
    if (!found || record_ms > found->timestamp_ms) found = timestamped_offset{at, record_ms};
    return true;
  }));
  return found;
}

}  // namespace braidmq::model
