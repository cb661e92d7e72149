#include "storage/log_snapshot.hpp"

#include <algorithm>

#include "model/record_search.hpp"

namespace braidmq::storage {
namespace {

constexpr std::size_t min_chunk_bytes = 4U << 10U;
constexpr std::size_t max_chunk_bytes = 1U << 20U;
constexpr std::size_t search_chunk_bytes = 64U << 10U;

// The bounds of a read request, over batches from the files and from memory alike.
class batch_taker {
 public:
  explicit batch_taker(const read_request& request) : request_(request) {}

  bool has_room(std::size_t size) const {
    if (taken_.empty() && request_.at_least_one_batch) return true;
    return total_ <= request_.max_bytes && size <= request_.max_bytes - total_;
  }
  void take(bytes batch) {
    total_ += batch.size();
    taken_.push_back(std::move(batch));
  }
  std::vector<bytes> finish() { return std::move(taken_); }

 private:
  const read_request& request_;
  std::vector<bytes> taken_;
  std::size_t total_ = 0;
};

// Calls `use(header, data)` for each batch that begins below `limit` until it returns true.
template <class Use>
status for_each_batch(log_snapshot& in, model::offset limit, Use use) {
  batch_cursor cursor(std::move(in.windows), std::move(in.epochs), search_chunk_bytes);
  for (;;) {
    BRAID_TRY(batch, cursor.next(crc_check::now));
    if (!batch || batch->header.base_offset >= in.files_end) break;
    BRAID_TRY(stop, use(batch->header, batch->data));
    if (stop) return {};
  }
  for (const bytes& data : in.memory) {
    BRAID_TRY(header, model::parse_batch_header(data));
    if (header.base_offset >= limit) return {};
    BRAID_TRY(stop, use(header, data));
    if (stop) return {};
  }
  return {};
}

}  // namespace

result<std::vector<bytes>> read_batches(log_snapshot from, const read_request& request,
                                        std::uint32_t index_interval_bytes) {
  const std::size_t chunk = std::clamp(request.max_bytes, min_chunk_bytes, max_chunk_bytes) + index_interval_bytes;
  batch_cursor cursor(std::move(from.windows), std::move(from.epochs), chunk);
  batch_taker taker(request);
  for (;;) {
    // What is skipped proves itself by the offset of the batch after it; what is taken, by its CRC.
    BRAID_TRY(batch, cursor.next(crc_check::later));
    if (!batch || batch->header.base_offset >= from.files_end) break;
    if (batch->header.last_offset() < request.from) continue;
    if (!taker.has_room(batch->data.size())) return taker.finish();
    BRAID_TRY_VOID(cursor.verify(*batch));
    taker.take(std::move(batch->data));
  }
  for (bytes& data : from.memory) {
    if (!taker.has_room(data.size())) break;
    taker.take(std::move(data));
  }
  return taker.finish();
}

result<std::optional<timestamp_match>> find_first_at_or_after(log_snapshot in, std::int64_t timestamp_ms,
                                                              model::offset limit, const model::decode_limits& limits) {
  std::optional<timestamp_match> match;
  BRAID_TRY_VOID(for_each_batch(in, limit, [&](const model::batch_header& header, const bytes& data) -> result<bool> {
    if (header.max_timestamp_ms < timestamp_ms) return false;
    const auto found = model::find_first_at_or_after(data, timestamp_ms, header.base_offset, limits);
    if (!found)
      return fail(errc::corrupt, fmt::format("batch at {}: {}", header.base_offset, found.error().to_string()));
    if (!*found) return false;  // compaction has taken the record that gave the batch its time
    if ((*found)->offset < limit) match = timestamp_match{(*found)->timestamp_ms, (*found)->offset};
    return true;
  }));
  return match;
}

result<std::int64_t> highest_timestamp(log_snapshot in, model::offset limit) {
  std::int64_t highest = model::no_timestamp;
  BRAID_TRY_VOID(for_each_batch(in, limit, [&](const model::batch_header& header, const bytes&) -> result<bool> {
    highest = std::max(highest, header.max_timestamp_ms);
    return false;
  }));
  return highest;
}

}  // namespace braidmq::storage
