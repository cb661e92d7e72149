#include <algorithm>

#include "storage/file_partition_log.hpp"

namespace braidmq::storage {

template <class T>
std::weak_ptr<unique_function<void(result<T>)>> file_partition_log::keep(unique_function<void(result<T>)> done) {
  auto kept = std::make_shared<unique_function<void(result<T>)>>(std::move(done));
  callbacks_.insert(kept);
  return kept;
}

template <class T>
void file_partition_log::call_back(const self_token& token,
                                   const std::weak_ptr<unique_function<void(result<T>)>>& waiting, result<T> value) {
  const auto done = waiting.lock();  // held here, as the callback may destroy the log
  if (!done) return;
  (*token.lock())->callbacks_.erase(done);
  (*done)(std::move(value));
  if (const auto self = token.lock()) (*self)->remove_when_idle();
}

template <class T>
void file_partition_log::answer(result<T> value, unique_function<void(result<T>)> done) {
  owner_.post([token = self_token(self_), waiting = keep<T>(std::move(done)), value = std::move(value)]() mutable {
    call_back<T>(token, waiting, std::move(value));
  });
}

template <class T>
void file_partition_log::on_disk(unique_function<result<T>()> work, unique_function<void(result<T>)> done) {
  disk_.post([&owner = owner_, token = self_token(self_), waiting = keep<T>(std::move(done)),
              work = std::move(work)]() mutable {
    result<T> value = work();
    work = nullptr;
    owner.post([token = std::move(token), waiting = std::move(waiting), value = std::move(value)]() mutable {
      call_back<T>(token, waiting, std::move(value));
    });
  });
}

template void file_partition_log::answer<void>(status, unique_function<void(status)>);
template void file_partition_log::on_disk<void>(unique_function<status()>, unique_function<void(status)>);

std::size_t file_partition_log::segment_of(model::offset offset) const {
  const auto above = std::upper_bound(segments_.begin(), segments_.end(), offset,
                                      [](model::offset value, const auto& each) { return value < each->base(); });
  BRAID_CHECK(above != segments_.begin(), "offset {} is below the log", offset);
  return static_cast<std::size_t>(above - segments_.begin()) - 1;
}

model::offset file_partition_log::memory_start() const {
  return tail_.front().value_or(end_offset());
}

read_window file_partition_log::window_of(const segment& part, model::offset from, model::offset limit) const {
  const index_position begin = part.offsets().floor(from);
  const auto end = part.offsets().ceiling(limit);
  const std::uint64_t end_position =
      end ? std::min<std::uint64_t>(end->position, part.written_bytes()) : part.written_bytes();
  return {part.files(), begin.position, end_position, begin.offset, part.largest_batch_bytes()};
}

void file_partition_log::read(read_request request, unique_function<void(result<std::vector<bytes>>)> done) {
  if (request.from < start_offset() || request.from > end_offset()) {
    return answer<std::vector<bytes>>(
        fail(errc::offset_out_of_range,
             fmt::format("offset {} is not in {}..{}", request.from, start_offset(), end_offset())),
        std::move(done));
  }
  request.limit = std::min(request.limit, end_offset());
  if (request.from >= request.limit) return answer<std::vector<bytes>>(std::vector<bytes>(), std::move(done));
  log_snapshot snapshot = snapshot_of_read(request);
  if (snapshot.windows.empty()) {
    return answer(read_batches(std::move(snapshot), request, options_.index_interval_bytes), std::move(done));
  }
  on_disk<std::vector<bytes>>(
      [snapshot = std::move(snapshot), request, interval = options_.index_interval_bytes]() mutable {
        return read_batches(std::move(snapshot), request, interval);
      },
      std::move(done));
}

log_snapshot file_partition_log::snapshot_of_read(const read_request& request) const {
  log_snapshot snapshot;
  const model::offset in_memory = memory_start();
  const model::offset limit = std::min(request.limit, in_memory);
  snapshot.files_end = limit;
  if (request.from < in_memory) {
    // The first window begins before the batch that is wanted, by one index interval and one batch at most.
    const std::size_t first = segment_of(request.from);
    const std::uint64_t skipped = options_.index_interval_bytes + segments_[first]->largest_batch_bytes();
    std::uint64_t found_bytes = 0;
    for (std::size_t at = first; at < segments_.size() && segments_[at]->base() < limit; ++at) {
      if (found_bytes > skipped && found_bytes - skipped > request.max_bytes) break;
      const segment& part = *segments_[at];
      snapshot.windows.push_back(window_of(part, std::max(request.from, part.base()), limit));
      found_bytes += snapshot.windows.back().end - snapshot.windows.back().position;
    }
    snapshot.epochs = epochs_.from(snapshot.windows.front().first);
  }
  snapshot.memory = tail_.collect(std::max(request.from, in_memory), request.limit, request.max_bytes);
  return snapshot;
}

log_snapshot file_partition_log::snapshot_of_search(std::int64_t timestamp_ms, model::offset limit) const {
  log_snapshot snapshot;
  const model::offset in_memory = memory_start();
  const model::offset disk_limit = std::min(limit, in_memory);
  snapshot.files_end = disk_limit;
  for (const auto& part : segments_) {
    if (part->base() >= disk_limit) break;
    if (part->max_timestamp_ms() < timestamp_ms) continue;
    const model::offset from = part->times().search_start(timestamp_ms);
    if (from < disk_limit) snapshot.windows.push_back(window_of(*part, from, disk_limit));
  }
  if (!snapshot.windows.empty()) snapshot.epochs = epochs_.from(snapshot.windows.front().first);
  snapshot.memory = tail_.collect(in_memory, limit, std::numeric_limits<std::size_t>::max());
  return snapshot;
}

void file_partition_log::find_timestamp(std::int64_t timestamp_ms, model::offset limit,
                                        unique_function<void(result<std::optional<timestamp_match>>)> done) {
  limit = std::min(limit, end_offset());
  on_disk<std::optional<timestamp_match>>(
      [snapshot = snapshot_of_search(timestamp_ms, limit), timestamp_ms, limit, limits = options_.decode]() mutable {
        return find_first_at_or_after(std::move(snapshot), timestamp_ms, limit, limits);
      },
      std::move(done));
}

void file_partition_log::find_max_timestamp(model::offset limit,
                                            unique_function<void(result<std::optional<timestamp_match>>)> done) {
  limit = std::min(limit, end_offset());
  // The highest time of all segments below the limit is known, and of a part of the one in which it lies.
  std::int64_t known = model::no_timestamp;
  log_snapshot rest;
  const model::offset in_memory = memory_start();
  rest.files_end = std::min(limit, in_memory);
  for (const auto& part : segments_) {
    if (part->end() <= limit) {
      known = std::max(known, part->max_timestamp_ms());
    } else if (part->base() < limit) {
      const time_entry entry = part->times().floor(limit).value_or(time_entry{model::no_timestamp, part->base()});
      known = std::max(known, entry.timestamp_ms);
      if (entry.offset < in_memory) {
        rest.windows.push_back(window_of(*part, entry.offset, rest.files_end));
        rest.epochs = epochs_.from(rest.windows.front().first);
      }
      rest.memory = tail_.collect(in_memory, limit, std::numeric_limits<std::size_t>::max());
    }
  }
  on_disk<std::int64_t>([rest = std::move(rest), limit]() mutable { return highest_timestamp(std::move(rest), limit); },
                        [this, known, limit, done = std::move(done)](result<std::int64_t> scanned) mutable {
                          if (!scanned) return done(tl::unexpected<error>(std::move(scanned).error()));
                          find_timestamp(std::max(known, *scanned), limit, std::move(done));
                        });
}

}  // namespace braidmq::storage
