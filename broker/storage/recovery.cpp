#include "storage/recovery.hpp"

#include <algorithm>
#include <vector>

#include "storage/batch_cursor.hpp"

namespace braidmq::storage {
namespace {

constexpr std::size_t scan_chunk_bytes = 1U << 20U;

class recovery {
 public:
  recovery(io::file_system& fs, const std::string& folder, const log_options& options, model::offset keep_below)
      : fs_(fs), folder_(folder), options_(options), keep_below_(keep_below) {}

  result<recovered_log> run() {
    BRAID_TRY_VOID(find_files());
    for (const segment_file_name& name : found_) {
      if (name.kind == file_kind::log && name.base < keep_below_) BRAID_TRY_VOID(scan(name.base));
    }
    if (end() != keep_below_) return missing(end());
    BRAID_TRY_VOID(remove_the_rest());
    for (const auto& each : log_.segments) BRAID_TRY_VOID(each->write_indexes_and_mark_written());
    return std::move(log_);
  }

 private:
  model::offset end() const { return log_.segments.empty() ? model::offset(0) : log_.segments.back()->end(); }

  tl::unexpected<error> missing(model::offset from) const {
    return fail(errc::corrupt,
                fmt::format("{}: offsets {} up to {} should be there and are not", folder_, from, keep_below_));
  }

  status find_files() {
    BRAID_TRY(names, fs_.list(folder_));
    for (const std::string& name : names) {
      if (const auto parsed = parse_segment_file(name)) found_.push_back(*parsed);
    }
    std::sort(found_.begin(), found_.end(), [](const segment_file_name& a, const segment_file_name& b) {
      return std::pair(a.base, a.kind) < std::pair(b.base, b.kind);
    });
    return {};
  }

  // Reads the batches of one file up to keep_below_, or to the end of the file.
  status scan(model::offset base) {
    if (!log_.segments.empty() && base != end()) return missing(end());
    auto scanned = std::make_unique<segment>(fs_, folder_, base, options_.index_interval_bytes);
    segment_files& files = *scanned->files();
    BRAID_TRY_VOID(files.open_existing());
    BRAID_TRY(size, files.size());
    if (size == 0) return missing(base);
    if (size > max_segment_bytes) return fail(errc::corrupt, fmt::format("{} has {} bytes", files.log_path(), size));
    batch_cursor cursor({{scanned->files(), 0, size, base, size}}, std::nullopt, scan_chunk_bytes);
    while (scanned->end() < keep_below_) {
      BRAID_TRY(batch, cursor.next(crc_check::now));
      if (!batch) break;
      const model::batch_header& header = batch->header;
      if (header.last_offset() >= keep_below_) {
        return fail(errc::corrupt, fmt::format("{}: offset {} is inside the batch {}..{}", files.log_path(),
                                               keep_below_, header.base_offset, header.last_offset()));
      }
      scanned->append(header.base_offset, header.last_offset(), header.max_timestamp_ms, header.size_bytes());
      log_.epochs.append(header.base_offset, header.partition_leader_epoch);
    }
    cut_last_ = size > scanned->size_bytes();
    log_.segments.push_back(std::move(scanned));
    return {};
  }

  bool is_kept(model::offset base) const {
    return std::any_of(log_.segments.begin(), log_.segments.end(),
                       [&](const auto& each) { return each->base() == base; });
  }

  // From the end: an interrupted run leaves a prefix of the log and what it would remove anyway.
  status remove_the_rest() {
    for (auto name = found_.rbegin(); name != found_.rend(); ++name) {
      if (is_kept(name->base)) continue;
      BRAID_TRY_VOID(fs_.remove(folder_ + "/" + segment_file(name->base, name->kind)));
    }
    if (!cut_last_) return {};
    return log_.segments.back()->files()->truncate(log_.segments.back()->size_bytes());
  }

  io::file_system& fs_;
  const std::string& folder_;
  const log_options& options_;
  model::offset keep_below_;
  std::vector<segment_file_name> found_;
  recovered_log log_;
  bool cut_last_ = false;
};

}  // namespace

result<recovered_log> recover(io::file_system& fs, const std::string& folder, const log_options& options,
                              model::offset keep_below) {
  return recovery(fs, folder, options, keep_below).run();
}

}  // namespace braidmq::storage
