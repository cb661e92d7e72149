#include "storage/segment_files.hpp"

#include <algorithm>
#include <utility>

#include "storage/partition_log.hpp"

namespace braidmq::storage {
namespace {

status append_entries(io::file_system& fs, const std::string& path, std::unique_ptr<io::file>& target,
                      std::uint64_t position, const bytes& entries) {
  if (entries.empty()) return {};
  if (!target) {
    BRAID_TRY(opened, fs.open(path, io::open_mode::create));
    target = std::move(opened);
  }
  return target->write_at(position, entries.view());
}

// Leaves a file alone that has the right bytes already: a start after a clean stop writes nothing.
status replace(io::file_system& fs, const std::string& path, byte_view content) {
  BRAID_TRY(target, fs.open(path, io::open_mode::create));
  BRAID_TRY(size, target->size());
  if (size == content.size()) {
    std::vector<std::byte> present(size);
    BRAID_TRY(got, target->read_at(0, present));
    if (got == size && std::equal(content.begin(), content.end(), present.begin())) return {};
  }
  BRAID_TRY_VOID(target->truncate(0));
  return target->write_at(0, content);
}

result<file_prefix> read_prefix(io::file_system& fs, const std::string& path, std::uint64_t size_bytes) {
  auto opened = fs.open(path, io::open_mode::read);
  if (!opened) {
    if (opened.error().code == io::errc::not_found) return file_prefix();
    return tl::unexpected<error>(std::move(opened).error());
  }
  const io::file& index = **opened;
  BRAID_TRY(size, index.size());
  std::vector<std::byte> content(std::min(size, size_bytes));
  BRAID_TRY(got, index.read_at(0, content));
  content.resize(got);
  return file_prefix{bytes::take(std::move(content)), size};
}

status sync_file(io::file_system& fs, const std::string& path) {
  auto opened = fs.open(path, io::open_mode::read_write);
  if (opened) return (*opened)->sync_data();
  // A segment of few batches has no index.
  if (opened.error().code == io::errc::not_found) return {};
  return tl::unexpected<error>(std::move(opened).error());
}

}  // namespace

segment_files::segment_files(io::file_system& fs, const std::string& folder, model::offset base)
    : fs_(&fs),
      log_path_(folder + "/" + segment_file(base, file_kind::log)),
      offset_index_path_(folder + "/" + segment_file(base, file_kind::offset_index)),
      time_index_path_(folder + "/" + segment_file(base, file_kind::time_index)) {}

status segment_files::open_existing() {
  BRAID_TRY(opened, fs_->open(log_path_, io::open_mode::read_write));
  log_ = std::move(opened);
  return {};
}

result<file_prefix> segment_files::read_offset_index(std::uint64_t size_bytes) const {
  return read_prefix(*fs_, offset_index_path_, size_bytes);
}

result<file_prefix> segment_files::read_time_index(std::uint64_t size_bytes) const {
  return read_prefix(*fs_, time_index_path_, size_bytes);
}

void segment_files::set_leftovers(const segment_file_sizes& found, const segment_file_sizes& known) {
  const std::lock_guard guard(cutting_);
  found_ = found;
  ends_ = known;
}

status segment_files::cut_leftovers() {
  const std::lock_guard guard(cutting_);
  return cut();
}

status segment_files::cut() {
  BRAID_TRY_VOID(cut_file(*fs_, log_path_, log_.get(), found_.log, ends_.log));
  BRAID_TRY_VOID(cut_file(*fs_, offset_index_path_, offset_index_.get(), found_.offset_index, ends_.offset_index));
  return cut_file(*fs_, time_index_path_, time_index_.get(), found_.time_index, ends_.time_index);
}

status segment_files::cut_file(io::file_system& fs, const std::string& path, io::file* opened, std::uint64_t& found,
                               std::uint64_t end) {
  if (std::exchange(found, 0) <= end) return {};
  if (opened != nullptr) return opened->truncate(end);
  BRAID_TRY(again, fs.open(path, io::open_mode::read_write));
  return again->truncate(end);
}

status segment_files::sync(bool sealed) const {
  BRAID_CHECK(log_ != nullptr, "{} was never written", log_path_);
  BRAID_TRY_VOID(log_->sync_data());
  if (!sealed) return {};
  BRAID_TRY_VOID(sync_file(*fs_, offset_index_path_));
  return sync_file(*fs_, time_index_path_);
}

status segment_files::replace_indexes(byte_view offset_entries, byte_view time_entries) {
  BRAID_TRY_VOID(replace(*fs_, offset_index_path_, offset_entries));
  BRAID_TRY_VOID(replace(*fs_, time_index_path_, time_entries));
  const std::lock_guard guard(cutting_);
  found_.offset_index = ends_.offset_index = offset_entries.size();
  found_.time_index = ends_.time_index = time_entries.size();
  return {};
}

// The .log last: what an interrupted run leaves can be told for what it is.
status segment_files::remove() const {
  for (const std::string* path : {&time_index_path_, &offset_index_path_, &log_path_}) {
    BRAID_TRY(there, fs_->exists(*path));
    if (there) BRAID_TRY_VOID(fs_->remove(*path));
  }
  return {};
}

status segment_files::write(const segment_write& what) {
  const std::lock_guard guard(cutting_);
  if (!log_) {
    // What had this name was cut away when the log was opened; bytes of somebody else are not to be mixed with ours.
    BRAID_TRY(opened, fs_->open(log_path_, io::open_mode::create_new));
    log_ = std::move(opened);
  }
  std::vector<byte_view> parts;  // none when the write only closes what a roll has left behind
  parts.reserve(what.batches.size());
  for (const bytes& batch : what.batches) parts.push_back(batch.view());
  BRAID_TRY_VOID(log_->write_at(what.position, parts));
  BRAID_TRY_VOID(
      append_entries(*fs_, offset_index_path_, offset_index_, what.offset_index_position, what.offset_index_entries));
  BRAID_TRY_VOID(
      append_entries(*fs_, time_index_path_, time_index_, what.time_index_position, what.time_index_entries));
  ends_.log = what.position;
  for (const bytes& batch : what.batches) ends_.log += batch.size();
  ends_.offset_index = what.offset_index_position + what.offset_index_entries.size();
  ends_.time_index = what.time_index_position + what.time_index_entries.size();
  if (what.last) {
    BRAID_TRY_VOID(cut());
    offset_index_.reset();
    time_index_.reset();
  }
  return {};
}

status segment_files::read(std::uint64_t position, mutable_byte_view target) const {
  BRAID_TRY(got, log_->read_at(position, target));
  if (got == target.size()) return {};
  return fail(errc::corrupt,
              fmt::format("{} ends at {}, {} bytes were written", log_path_, position + got, position + target.size()));
}

}  // namespace braidmq::storage
