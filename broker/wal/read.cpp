#include "wal/read.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "wal/format.hpp"
#include "wal/windowed_reader.hpp"

namespace braidmq::wal {
namespace {

constexpr std::size_t most_window_bytes = std::size_t{8} << 20U;

// The file's header is read along, once per file: its incarnation seeds the checksums.
result<std::uint32_t> read_seed(const io::file& file) {
  std::vector<std::byte> block(format::block_bytes);
  BRAID_TRY(got, file.read_at(0, block));
  if (got != block.size()) return fail(errc::corrupt, "the file is shorter than its header");
  BRAID_TRY(header, format::parse_file_header(block));
  return format::crc_seed(header.incarnation);
}

// A group's entries as the items of one group write leave them: a later item may replace what an earlier one has.
std::vector<raft::entry> entries_of(raft::group_id group, std::vector<append_item> items) {
  std::vector<raft::entry> entries;
  for (append_item& item : items) {
    if (item.group != group || item.entries.empty()) continue;
    while (!entries.empty() && entries.back().index >= item.entries.front().index) entries.pop_back();
    for (raft::entry& entry : item.entries) entries.push_back(std::move(entry));
  }
  return entries;
}

result<std::vector<raft::entry>> read_group_write(windowed_reader& file, const group_place& place, raft::group_id group,
                                                  std::uint32_t seed) {
  BRAID_TRY(block, file.read(place.position, place.size_bytes));
  const auto header = format::parse_group_header(block, place.position, seed);
  if (!header || header->kind != format::group_kind::items || !format::is_sound(block, *header, seed))
    return fail(errc::corrupt, "the group write's checksum does not fit");
  BRAID_TRY(items, format::parse_items(bytes::copy_of(block), *header));
  return entries_of(group, std::move(items));
}

// From where `first` begins to the end of the last step in its file: mostly they lie one behind the other, and are read
// at once.
std::size_t bytes_to_read(const read_plan& plan, const read_step& first) {
  std::uint64_t end = 0;
  for (const read_step& step : plan.steps) {
    if (step.run.place.file == first.run.place.file) end = step.run.place.position + step.run.place.size_bytes;
  }
  return std::min<std::uint64_t>(most_window_bytes, end - first.run.place.position);
}

error at_place(error e, const read_step& step) {
  return with_context(std::move(e), fmt::format("{}/{} at byte {}", step.folder, format::file_name(step.run.place.file),
                                                step.run.place.position));
}

}  // namespace

result<std::vector<raft::entry>> read_entries(const read_plan& plan) {
  std::vector<raft::entry> entries;
  std::size_t bytes_taken = 0;
  std::uint64_t open_file = 0;
  std::optional<windowed_reader> file;
  std::uint32_t seed = 0;
  raft::index next = plan.from;
  for (const read_step& step : plan.steps) {
    if (step.run.place.file != open_file) {
      auto read = read_seed(*step.file);
      if (!read) return tl::unexpected<error>(at_place(std::move(read).error(), step));
      seed = *read;
      file.emplace(step.file, bytes_to_read(plan, step));
      open_file = step.run.place.file;
    }
    auto group_write = read_group_write(*file, step.run.place, plan.group, seed);
    if (!group_write) return tl::unexpected<error>(at_place(std::move(group_write).error(), step));
    for (raft::entry& entry : *group_write) {
      if (entry.index < next || entry.index > step.run.last) continue;
      if (entry.index != next) break;
      if (!entries.empty() && bytes_taken + entry.payload.size() > plan.max_bytes) return entries;
      bytes_taken += entry.payload.size();
      entries.push_back(std::move(entry));
      ++next;
    }
    if (next != step.run.last + 1) {
      return tl::unexpected<error>(
          at_place({make_error_code(errc::corrupt), fmt::format("entry {} is not where it was written", next)}, step));
    }
  }
  return entries;
}

}  // namespace braidmq::wal
