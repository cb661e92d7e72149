#include "storage/recovery.hpp"

#include <algorithm>
#include <vector>

#include "storage/batch_cursor.hpp"

namespace braidmq::storage {
namespace {

constexpr std::size_t scan_chunk_bytes = 1U << 20U;

struct scanned_segment {
  std::unique_ptr<segment> found;
  std::uint64_t file_bytes = 0;
};

// Reads the batches of one file up to `keep_below`, or to the end of the file.
result<scanned_segment> scan(io::file_system& fs, const std::string& folder, const log_options& options,
                             model::offset base, model::offset keep_below, epoch_runs& epochs) {
  scanned_segment scanned{std::make_unique<segment>(fs, folder, base, options.index_interval_bytes)};
  segment_files& files = *scanned.found->files();
  BRAID_TRY_VOID(files.open_existing());
  BRAID_TRY(size, files.size());
  if (size > max_segment_bytes) return fail(errc::corrupt, fmt::format("{} has {} bytes", files.log_path(), size));
  batch_cursor cursor({{scanned.found->files(), 0, size, base, size}}, std::nullopt, scan_chunk_bytes);
  while (scanned.found->end() < keep_below) {
    BRAID_TRY(batch, cursor.next(crc_check::now));
    if (!batch) break;
    const model::batch_header& header = batch->header;
    if (header.last_offset() >= keep_below) {
      return fail(errc::corrupt, fmt::format("{}: offset {} is inside the batch {}..{}", files.log_path(), keep_below,
                                             header.base_offset, header.last_offset()));
    }
    scanned.found->append(header.base_offset, header.last_offset(), header.max_timestamp_ms, header.size_bytes());
    epochs.append(header.base_offset, header.partition_leader_epoch);
  }
  scanned.file_bytes = size;
  return scanned;
}

result<std::vector<segment_file_name>> find_files(io::file_system& fs, const std::string& folder) {
  BRAID_TRY(names, fs.list(folder));
  std::vector<segment_file_name> found;
  for (const std::string& name : names) {
    if (const auto parsed = parse_segment_file(name)) found.push_back(*parsed);
  }
  std::sort(found.begin(), found.end(), [](const segment_file_name& a, const segment_file_name& b) {
    return std::pair(a.base, a.kind) < std::pair(b.base, b.kind);
  });
  return found;
}

tl::unexpected<error> missing(const std::string& folder, model::offset from, model::offset end) {
  return fail(errc::corrupt, fmt::format("{}: offsets {} up to {} should be there and are not", folder, from, end));
}

// What does not belong to `log` goes, and its last file ends where the log does. From the end: an interrupted run
// leaves a prefix of the log and what it would remove anyway.
status remove_the_rest(io::file_system& fs, const std::string& folder, const recovered_log& log,
                       const std::vector<segment_file_name>& found, bool cut_last) {
  const auto is_kept = [&log](model::offset base) {
    const auto at = std::ranges::lower_bound(log.segments, base, {}, [](const auto& one) { return one->base(); });
    return at != log.segments.end() && (*at)->base() == base;
  };
  for (auto name = found.rbegin(); name != found.rend(); ++name) {
    if (is_kept(name->base)) continue;
    BRAID_TRY_VOID(fs.remove(folder + "/" + segment_file(name->base, name->kind)));
  }
  if (!cut_last) return {};
  return log.segments.back()->files()->truncate(log.segments.back()->size_bytes());
}

// One segment as a checkpoint remembers it.
result<std::unique_ptr<segment>> restore_segment(io::file_system& fs, const std::string& folder,
                                                 const log_options& options, const segment_manifest& known) {
  auto restored = std::make_unique<segment>(fs, folder, known.base, options.index_interval_bytes);
  segment_files& files = *restored->files();
  BRAID_TRY_VOID(files.open_existing());
  BRAID_TRY(size, files.size());
  if (size < known.size_bytes) {
    return fail(errc::corrupt,
                fmt::format("{} has {} bytes and should have {}", files.log_path(), size, known.size_bytes));
  }
  const std::uint64_t entries = known.index_entries;
  BRAID_TRY(offset_index, files.read_offset_index(entries * offset_index_entry_bytes));
  BRAID_TRY(time_index, files.read_time_index(entries * time_index_entry_bytes));
  if (restored->restore(known, offset_index.content, time_index.content)) {
    restored->set_file_sizes({size, offset_index.file_bytes, time_index.file_bytes});
    return restored;
  }

  epoch_runs unused;
  BRAID_TRY(scanned, scan(fs, folder, options, known.base, known.end, unused));
  if (scanned.found->end() != known.end || scanned.found->size_bytes() != known.size_bytes) {
    return fail(errc::corrupt,
                fmt::format("{} ends at offset {} and {} bytes, and should at {} and {}", files.log_path(),
                            scanned.found->end(), scanned.found->size_bytes(), known.end, known.size_bytes));
  }
  BRAID_TRY_VOID(scanned.found->write_indexes_and_mark_written());
  scanned.found->set_file_sizes({size, 0, 0});
  return std::move(scanned.found);
}

}  // namespace

result<recovered_log> recover(io::file_system& fs, const std::string& folder, const log_options& options,
                              model::offset keep_below) {
  recovered_log log;
  const auto end = [&log] { return log.segments.empty() ? model::offset(0) : log.segments.back()->end(); };
  BRAID_TRY(found, find_files(fs, folder));
  bool cut_last = false;
  for (const segment_file_name& name : found) {
    if (name.kind != file_kind::log || name.base >= keep_below) continue;
    if (!log.segments.empty() && name.base != end()) return missing(folder, end(), keep_below);
    BRAID_TRY(scanned, scan(fs, folder, options, name.base, keep_below, log.epochs));
    if (scanned.file_bytes == 0) return missing(folder, name.base, keep_below);
    cut_last = scanned.file_bytes > scanned.found->size_bytes();
    log.segments.push_back(std::move(scanned.found));
  }
  if (end() != keep_below) return missing(folder, end(), keep_below);
  BRAID_TRY_VOID(remove_the_rest(fs, folder, log, found, cut_last));
  for (const auto& each : log.segments) BRAID_TRY_VOID(each->write_indexes_and_mark_written());
  log.start = log.segments.empty() ? keep_below : log.segments.front()->base();
  return log;
}

result<recovered_log> restore(io::file_system& fs, const std::string& folder, const log_options& options,
                              const log_manifest& manifest) {
  recovered_log log;
  log.start = manifest.start;
  log.epochs = manifest.epochs;
  for (const segment_manifest& known : manifest.segments) {
    BRAID_TRY(restored, restore_segment(fs, folder, options, known));
    log.segments.push_back(std::move(restored));
  }
  BRAID_TRY(found, find_files(fs, folder));
  BRAID_TRY_VOID(remove_the_rest(fs, folder, log, found, false));
  return log;
}

// Files of others are left alone, and then the folder is, too.
status remove_segments(io::file_system& fs, const std::string& folder) {
  BRAID_TRY(exists, fs.exists(folder));
  if (!exists) return {};
  BRAID_TRY(names, fs.list(folder));
  bool has_others = false;
  for (const std::string& name : names) {
    if (parse_segment_file(name)) {
      BRAID_TRY_VOID(fs.remove(folder + "/" + name));
    } else {
      has_others = true;
    }
  }
  return has_others ? status() : fs.remove(folder);
}

}  // namespace braidmq::storage
