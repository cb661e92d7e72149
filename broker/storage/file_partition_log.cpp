#include "storage/file_partition_log.hpp"

#include <algorithm>

#include "base/endian.hpp"
#include "model/record_batch.hpp"

namespace braidmq::storage {
namespace {

// Offsets and epoch in the header must be those that the caller says, or the batch could never be read back.
model::leader_epoch check_stamp(const stored_batch& batch) {
  const auto header = model::parse_batch_header(batch.data);
  BRAID_CHECK(header.has_value(), "append: {}", header.error().to_string());
  BRAID_CHECK(header->size_bytes() == batch.data.size() && header->base_offset == batch.base &&
                  header->last_offset() == batch.last && header->max_timestamp_ms == batch.max_timestamp_ms,
              "append: header says {}..{}, {} bytes, caller says {}..{}, {} bytes", header->base_offset,
              header->last_offset(), header->size_bytes(), batch.base, batch.last, batch.data.size());
  return header->partition_leader_epoch;
}

bool is_sound(segment_bounds bounds) {
  return bounds.bytes > 0 && bounds.bytes <= max_segment_bytes;
}

status clear_folder(io::file_system& fs, const std::string& folder, const log_options& options) {
  BRAID_TRY_VOID(fs.make_directories(folder));
  BRAID_TRY(nothing_kept, recover(fs, folder, options, model::offset(0)));
  BRAID_CHECK(nothing_kept.segments.empty());
  return {};
}

}  // namespace

result<std::unique_ptr<partition_log>> partition_log::open(io::file_system& fs, io::executor& disk, io::executor& owner,
                                                           std::string folder, log_options options,
                                                           model::offset keep_below, log_callbacks callbacks) {
  if (!is_sound(options.segments)) {
    return fail(std::make_error_code(std::errc::invalid_argument),
                fmt::format("segment size {} is not between 1 and {}", options.segments.bytes, max_segment_bytes));
  }
  BRAID_TRY(present, fs.exists(folder));
  if (!present) BRAID_TRY_VOID(fs.make_directories(folder));
  BRAID_TRY(recovered, recover(fs, folder, options, keep_below));
  return std::make_unique<file_partition_log>(fs, disk, owner, std::move(folder), options, std::move(recovered),
                                              std::move(callbacks));
}

result<std::unique_ptr<partition_log>> partition_log::open(io::file_system& fs, io::executor& disk, io::executor& owner,
                                                           std::string folder, log_options options,
                                                           const log_manifest& manifest, log_callbacks callbacks) {
  // A log without a byte has no folder, and gets none before its first write.
  if (manifest.segments.empty()) {
    BRAID_TRY_VOID(remove_segments(fs, folder));
    auto empty = std::make_unique<file_partition_log>(fs, disk, owner, std::move(folder), options, std::nullopt,
                                                      std::move(callbacks));
    empty->start_ = manifest.start;
    empty->epochs_ = manifest.epochs;
    return empty;
  }
  BRAID_TRY(recovered, restore(fs, folder, options, manifest));
  return std::make_unique<file_partition_log>(fs, disk, owner, std::move(folder), options, std::move(recovered),
                                              std::move(callbacks));
}

std::unique_ptr<partition_log> partition_log::create(io::file_system& fs, io::executor& disk, io::executor& owner,
                                                     std::string folder, log_options options, log_callbacks callbacks) {
  BRAID_CHECK(is_sound(options.segments), "segment size {}", options.segments.bytes);
  return std::make_unique<file_partition_log>(fs, disk, owner, std::move(folder), options, std::nullopt,
                                              std::move(callbacks));
}

file_partition_log::file_partition_log(io::file_system& fs, io::executor& disk, io::executor& owner, std::string folder,
                                       log_options options, std::optional<recovered_log> recovered,
                                       log_callbacks callbacks)
    : fs_(fs),
      disk_(disk),
      owner_(owner),
      folder_(std::move(folder)),
      options_(options),
      owner_callbacks_(std::move(callbacks)),
      folder_ready_(recovered.has_value()),
      tail_(options.cache_bytes, options.cache),
      self_(std::make_shared<file_partition_log*>(this)) {
  if (!recovered) return;
  segments_ = std::move(recovered->segments);
  epochs_ = std::move(recovered->epochs);
  start_ = recovered->start;
  for (const auto& each : segments_) size_bytes_ += each->size_bytes();
  if (!segments_.empty()) write_segment_ = segments_.size() - 1;
}

file_partition_log::~file_partition_log() = default;

model::offset file_partition_log::start_offset() const {
  return start_;
}

model::offset file_partition_log::end_offset() const {
  return segments_.empty() ? start_ : segments_.back()->end();
}

void file_partition_log::set_segment_bounds(segment_bounds bounds) {
  BRAID_CHECK(is_sound(bounds), "segment size {}", bounds.bytes);
  options_.segments = bounds;
}

void file_partition_log::append(stored_batch batch) {
  const std::size_t size = batch.data.size();
  BRAID_CHECK(segments_.empty() || batch.base == end_offset(), "append at {}, the end is {}", batch.base, end_offset());
  if (segments_.empty()) start_ = batch.base;
  BRAID_CHECK(size <= max_segment_bytes, "batch of {} bytes", size);
  const model::leader_epoch epoch = check_stamp(batch);
  if (segments_.empty() || !segments_.back()->has_room(size, batch.last, batch.max_timestamp_ms, options_.segments)) {
    if (!segments_.empty()) segments_.back()->set_unsynced();  // its index files are complete now
    segments_.push_back(std::make_unique<segment>(fs_, folder_, batch.base, options_.index_interval_bytes));
  }
  segments_.back()->append(batch.base, batch.last, batch.max_timestamp_ms, size);
  epochs_.append(batch.base, epoch);
  size_bytes_ += size;
  tail_.append({std::move(batch.data), batch.base, batch.last});
  if (!options_.writes_when_told) write_pending();
}

void file_partition_log::write_pending() {
  write_through_ = written_batches_ + tail_.pending_count();
  start_write();
}

void file_partition_log::start_write() {
  if (in_flight_batches_ > 0 || failed_ || removed_ || written_batches_ >= write_through_) return;
  unique_function<status()> prepare;
  if (!std::exchange(folder_ready_, true)) {
    prepare = [&fs = fs_, folder = folder_, options = options_] { return clear_folder(fs, folder, options); };
  }
  disk_.post([&owner = owner_, prepare = std::move(prepare), token = self_token(self_), jobs = plan_write()]() mutable {
    status outcome;
    if (prepare) outcome = prepare();
    for (const segment_job& job : jobs) {
      if (!outcome) break;
      outcome = job.files->write(job.what);
    }
    jobs.clear();
    owner.post([token = std::move(token), outcome = std::move(outcome)]() mutable {
      // Not held during the call: a callback that destroys the log must make the token expire.
      file_partition_log* log = nullptr;
      if (const auto self = token.lock()) log = *self;
      if (log != nullptr) log->on_written(std::move(outcome));
    });
  });
}

std::vector<file_partition_log::segment_job> file_partition_log::plan_write() {
  std::vector<segment_job> jobs;
  std::vector<bytes> batches;
  std::uint64_t batch_bytes = 0;
  std::size_t total = 0;
  std::size_t at = write_segment_;
  model::offset end = tail_.pending(0).base;
  const auto close_part = [&] {
    const segment& part = *segments_[at];
    segment_write what = part.plan_write(std::exchange(batches, {}), end);
    what.last = at + 1 < segments_.size() && end == part.end();
    jobs.push_back({part.files(), std::move(what)});
    in_flight_.push_back({at, std::exchange(batch_bytes, 0), end});
  };
  for (; in_flight_batches_ < tail_.pending_count(); ++in_flight_batches_) {
    const memory_tail::batch& next = tail_.pending(in_flight_batches_);
    if (in_flight_batches_ > 0 && total + next.data.size() > options_.write_bytes) break;
    if (next.base >= segments_[at]->end()) {
      close_part();  // with nothing in it when only its index files are left to be closed
      ++at;
    }
    batches.push_back(next.data);
    batch_bytes += next.data.size();
    total += next.data.size();
    end = next.last + 1;
  }
  close_part();
  return jobs;
}

void file_partition_log::on_written(status outcome) {
  if (!outcome) return fail_log(std::move(outcome).error());
  if (removed_) {
    in_flight_.clear();
    in_flight_batches_ = 0;
    return remove_when_idle();
  }
  std::size_t written_bytes = 0;
  for (const planned_part& part : in_flight_) {
    segments_[part.segment]->mark_written(part.batch_bytes, part.end);
    written_bytes += part.batch_bytes;
  }
  write_segment_ = in_flight_.back().segment;
  tail_.mark_written(in_flight_batches_);
  written_batches_ += in_flight_batches_;
  in_flight_.clear();
  in_flight_batches_ = 0;
  drop_trimmed();
  start_write();

  std::vector<unique_function<void(status)>> ready;
  for (; !drains_.empty() && drains_.front().target <= written_batches_; drains_.pop_front()) {
    ready.push_back(std::move(drains_.front().done));
  }
  // Last, as a callback may destroy the log; the others are dropped then.
  const self_token token = self_;
  if (owner_callbacks_.on_written) owner_callbacks_.on_written(written_bytes);
  for (auto& done : ready) {
    if (!token.expired()) done(status());
  }
}

void file_partition_log::fail_log(error cause) {
  failed_ = true;
  auto dropped = std::exchange(drains_, {});
  const self_token token = self_;
  if (auto told = std::exchange(owner_callbacks_.on_failure, nullptr))
    told(with_context(std::move(cause), "segments of " + folder_));
  for (auto& waiting : dropped) {
    if (!token.expired()) waiting.done(fail(errc::failed));
  }
}

void file_partition_log::remove(unique_function<void(status)> done) {
  BRAID_CHECK(!removed_, "{} is removed twice", folder_);
  removed_ = true;
  on_removed_ = std::move(done);
  owner_callbacks_.on_written = nullptr;
  for (auto& waiting : std::exchange(drains_, {})) answer<void>(fail(errc::removed), std::move(waiting.done));
  remove_when_idle();
}

// Everything that is under way has a callback in callbacks_, or a write in in_flight_. A write that has failed for good
// leaves in_flight_ as it was, and the files stay: the process is about to end.
void file_partition_log::remove_when_idle() {
  if (!on_removed_ || in_flight_batches_ > 0 || !callbacks_.empty()) return;
  segments_.clear();  // closes the files
  on_disk<void>([&fs = fs_, folder = folder_] { return remove_segments(fs, folder); },
                std::exchange(on_removed_, nullptr));
}

log_pin file_partition_log::pin() {
  log_pin pinned{{start_, end_offset(), {}, epochs_}, {}};
  pinned.manifest.segments.reserve(segments_.size());
  bool has_new_names = false;
  for (const auto& each : segments_) {
    pinned.manifest.segments.push_back(each->manifest());
    if (!each->take_unsynced()) continue;
    if (each->take_new_name()) has_new_names = true;
    const bool sealed = each != segments_.back();
    pinned.syncs.push_back(
        [files = std::shared_ptr<const segment_files>(each->files()), sealed] { return files->sync(sealed); });
  }
  // The names of new files, once their bytes are there.
  if (has_new_names) pinned.syncs.push_back([&fs = fs_, folder = folder_] { return fs.sync_directory(folder); });
  return pinned;
}

void file_partition_log::drain(unique_function<void(status)> done) {
  if (failed_) return answer<void>(fail(errc::failed), std::move(done));
  if (tail_.pending_count() == 0) return answer<void>({}, std::move(done));
  drains_.push_back({written_batches_ + tail_.pending_count(), std::move(done)});
  write_pending();
}

}  // namespace braidmq::storage
