#include "wal/recovery.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "wal/format.hpp"

namespace braidmq::wal {
namespace {

struct folder_content {
  std::vector<std::uint64_t> files;     // sequence numbers, ascending
  std::vector<std::string> unfinished;  // names
};

result<folder_content> list_folder(io::file_system& fs, const std::string& folder) {
  BRAID_TRY(names, fs.list(folder));
  folder_content content;
  for (const std::string& name : names) {
    if (const auto sequence = format::parse_file_name(name)) {
      content.files.push_back(*sequence);
    } else if (name.ends_with(format::unfinished_suffix) && format::parse_file_name(std::string_view(name).substr(
                                                                0, name.size() - format::unfinished_suffix.size()))) {
      content.unfinished.push_back(name);
    }
  }
  std::sort(content.files.begin(), content.files.end());
  return content;
}

// Reads one file after the other and keeps the state that the next group must fit to.
class scanner {
 public:
  scanner(io::file_system& fs, const std::string& folder) : fs_(fs), folder_(folder) {}

  status scan(const std::vector<std::uint64_t>& files) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (i > 0 && files[i] != files[i - 1] + 1) {
        return fail(errc::corrupt,
                    fmt::format("{} is missing, though files before and after it are there: restore it (or all of the "
                                "folder) from a copy; nothing was changed",
                                path_of(files[i - 1] + 1)));
      }
      BRAID_TRY_VOID(scan_file(files[i], i + 1 == files.size()));
    }
    return {};
  }

  std::optional<std::uint64_t> torn_at() const { return torn_at_; }
  recovery take() { return std::move(found_); }

 private:
  std::string path_of(std::uint64_t file) const { return folder_ + "/" + format::file_name(file); }

  tl::unexpected<error> damaged(std::uint64_t position, const std::string& what) const {
    return fail(errc::corrupt,
                fmt::format("{} at byte {}: {}. These bytes were durable, so acknowledged records would be lost by "
                            "cutting them off; nothing was changed. Restore the file from a copy, or give up this "
                            "folder and let the broker start with an empty one",
                            path_, position, what));
  }

  status scan_file(std::uint64_t sequence, bool is_last) {
    path_ = path_of(sequence);
    BRAID_TRY(opened, fs_.open(path_, io::open_mode::read_write));
    file_ = std::move(opened);
    if (is_last) {
      // The process before may have ended between a write and its sync, or by a sync that failed. What is read here
      // must be what a power cut would leave, because the next group write will vouch for it.
      BRAID_TRY_VOID(file_->sync_data());
      BRAID_TRY_VOID(file_->discard_cache());
    }
    BRAID_TRY(size, file_->size());
    size_ = size;
    BRAID_TRY_VOID(read_header(sequence));
    std::uint64_t position = format::block_bytes;
    while (position < size_) {
      BRAID_TRY(group, read_group(position));
      if (!group) break;
      if (group->header.sequence != found_.end.next_group || group->header.previous_crc != found_.end.previous_crc)
        break;
      BRAID_TRY_VOID(take_group(sequence, position, *group));
      position += group->block.size();
    }
    if (position == format::block_bytes) return damaged(position, "the file's first group write is not readable");
    if (position < size_) BRAID_TRY_VOID(judge_tail(position, is_last));
    found_.end.file_sequence = sequence;
    found_.end.file = file_;
    found_.end.position = position;
    found_.files[sequence] = file_;
    found_.file_bytes += position;
    return {};
  }

  status read_header(std::uint64_t sequence) {
    if (size_ < format::block_bytes) return damaged(size_, "the file is shorter than its header");
    std::vector<std::byte> block(format::block_bytes);
    BRAID_TRY_VOID(read_fully(0, block));
    auto header = format::parse_file_header(block);
    if (!header) {
      if (header.error().code == errc::corrupt) return damaged(0, header.error().message);
      return fail(header.error().code, fmt::format("{} {}; nothing was changed", path_, header.error().message));
    }
    if (header->file_sequence != sequence) {
      return damaged(0, fmt::format("the header is that of file {}", header->file_sequence));
    }
    const bool first = found_.files.empty();
    if (first) found_.end.next_group = header->first_group;
    if (header->first_group != found_.end.next_group) {
      return damaged(0, fmt::format("the file begins with group write {}, but {} comes next", header->first_group,
                                    found_.end.next_group));
    }
    found_.end.incarnation = header->incarnation;
    seed_ = format::crc_seed(header->incarnation);
    at_file_start_ = true;
    adopt_previous_ = first;
    return {};
  }

  struct group {
    bytes block;
    format::group_header header;
  };

  // Nothing when no sound group write of this file begins at `position`.
  result<std::optional<group>> read_group(std::uint64_t position) {
    const std::uint64_t room = size_ - position;
    std::vector<std::byte> block(std::min<std::uint64_t>(room, format::block_bytes));
    BRAID_TRY_VOID(read_fully(position, block));
    const auto length = format::peek_group_size(block, room);
    if (!length) return std::optional<group>();
    const std::size_t have = block.size();
    block.resize(*length);
    if (*length > have) BRAID_TRY_VOID(read_fully(position + have, mutable_byte_view(block).subspan(have)));
    const auto header = format::parse_group(block, position, seed_);
    if (!header) return std::optional<group>();
    if (adopt_previous_) {
      // Files before the first one were trimmed away; the chain begins here.
      found_.end.previous_crc = header->previous_crc;
      adopt_previous_ = false;
    }
    return std::optional<group>({bytes::take(std::move(block)), *header});
  }

  status read_fully(std::uint64_t position, mutable_byte_view target) const {
    BRAID_TRY(got, file_->read_at(position, target));
    if (got == target.size()) return {};
    return fail(io::errc::device_error, fmt::format("{} became shorter while it was read", path_));
  }

  status take_group(std::uint64_t file, std::uint64_t position, const group& group) {
    const bool is_state = group.header.kind == format::group_kind::state;
    if (is_state != at_file_start_) return damaged(position, "a group write of the wrong kind for its place");
    at_file_start_ = false;
    if (is_state) {
      BRAID_TRY_VOID(take_states(position, group));
    } else if (group.header.kind == format::group_kind::items) {
      auto items = format::parse_items(group.block, group.header);
      if (!items) return damaged(position, items.error().message);
      const group_place place{file, position, group.block.size()};
      for (const append_item& item : *items) {
        if (!format::advance(found_.end.states[item.group], item)) {
          return damaged(position, fmt::format("entries of Raft group {} do not follow those before", item.group));
        }
        if (item.entries.empty()) continue;
        found_.positions.add(item.group, item.entries.front().index, item.entries.back().index, place);
      }
    }
    found_.end.next_group = group.header.sequence + 1;
    found_.end.previous_crc = group.header.crc;
    return {};
  }

  status take_states(std::uint64_t position, const group& group) {
    auto states = format::parse_states(format::payload_of(group.block, group.header));
    if (!states) return damaged(position, states.error().message);
    if (!found_.files.empty() && *states != found_.end.states) {
      return damaged(position, "the file's state group contradicts the files before it");
    }
    found_.end.states = std::move(*states);
    return {};
  }

  // No sound next group at `position`: a write that a power cut has torn, or damage of what was durable? Only the last
  // file can be torn, and only from the first group write that nothing later vouches for.
  status judge_tail(std::uint64_t position, bool is_last) {
    const std::uint64_t expected = found_.end.next_group;
    const std::string what = fmt::format("group write {} is not readable", expected);
    if (!is_last) return damaged(position, what + ", and a later file vouches for it");
    for (std::uint64_t at = position; at < size_; at += format::block_bytes) {
      BRAID_TRY(later, read_group(at));
      if (later && later->header.durable >= expected) {
        return damaged(position, fmt::format("{}, and the sound group write {} at byte {} vouches for it", what,
                                             later->header.sequence, at));
      }
    }
    torn_at_ = position;
    found_.cut_bytes = size_ - position;
    return {};
  }

  io::file_system& fs_;
  const std::string& folder_;
  recovery found_;
  std::optional<std::uint64_t> torn_at_;

  // Of the file that is being read.
  std::string path_;
  std::shared_ptr<io::file> file_;
  std::uint64_t size_ = 0;
  std::uint32_t seed_ = 0;
  bool at_file_start_ = false;
  bool adopt_previous_ = false;
};

}  // namespace

result<recovery> recover(io::file_system& fs, const std::string& folder) {
  BRAID_TRY(content, list_folder(fs, folder));
  scanner scan(fs, folder);
  if (auto sound = scan.scan(content.files); !sound) return tl::unexpected<error>(std::move(sound).error());
  const auto torn_at = scan.torn_at();
  recovery found = scan.take();
  for (const std::string& name : content.unfinished) BRAID_TRY_VOID(fs.remove(folder + "/" + name));
  if (torn_at) {
    BRAID_TRY_VOID(found.end.file->truncate(*torn_at));
    BRAID_TRY_VOID(found.end.file->sync_data());
  }
  BRAID_TRY_VOID(fs.sync_directory(folder));
  return found;
}

}  // namespace braidmq::wal
