#include "wal/recovery.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "wal/format.hpp"
#include "wal/inspect.hpp"
#include "wal/windowed_reader.hpp"

namespace braidmq::wal {
namespace {

struct folder_content {
  std::vector<std::uint64_t> files;     // sequence numbers, ascending
  std::vector<std::string> unfinished;  // names
  std::vector<std::string> spares;      // names
};

result<folder_content> list_folder(io::file_system& fs, const std::string& folder) {
  BRAID_TRY(names, fs.list(folder));
  folder_content content;
  for (const std::string& name : names) {
    std::string_view finished = name;
    const bool is_unfinished = finished.ends_with(format::unfinished_suffix);
    if (is_unfinished) finished.remove_suffix(format::unfinished_suffix.size());
    const auto sequence = format::parse_file_name(finished);
    const bool is_spare = format::parse_spare_name(finished).has_value();
    if (is_unfinished && (sequence || is_spare)) {
      content.unfinished.push_back(name);
    } else if (sequence) {
      content.files.push_back(*sequence);
    } else if (is_spare) {
      content.spares.push_back(name);
    }
  }
  std::sort(content.files.begin(), content.files.end());
  return content;
}

// Entries replace those at their indexes and all after them.
void note_terms(std::vector<raft::term_run>& runs, const std::vector<raft::entry>& entries) {
  while (!runs.empty() && runs.back().first >= entries.front().index) runs.pop_back();
  for (const raft::entry& one : entries) {
    if (runs.empty() || runs.back().term != one.term) runs.push_back({one.index, one.term});
  }
}

// Reads one file after the other and keeps the state that the next group must fit to.
class scanner {
 public:
  // With a visitor everything is only looked at.
  scanner(io::file_system& fs, const std::string& folder, visitor* shown) : fs_(fs), folder_(folder), shown_(shown) {}

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

  recovery take() { return std::move(found_); }

 private:
  std::string path_of(std::uint64_t file) const { return folder_ + "/" + format::file_name(file); }

  struct place {
    std::string path;
    std::uint64_t position = 0;
  };

  static tl::unexpected<error> damaged(const place& at, const std::string& what) {
    return fail(errc::corrupt,
                fmt::format("{} at byte {}: {}. These bytes were durable, so acknowledged records would be lost by "
                            "cutting them off; nothing was changed. Restore the file from a copy, or give up this "
                            "folder and let the broker start with an empty one",
                            at.path, at.position, what));
  }

  status scan_file(std::uint64_t sequence, bool is_last) {
    const place end_before = here_;
    here_ = {path_of(sequence), 0};
    const auto mode = shown_ != nullptr ? io::open_mode::read : io::open_mode::read_write;
    BRAID_TRY(opened, fs_.open_direct(here_.path, mode));
    file_ = std::move(opened);
    if (is_last && shown_ == nullptr) {
      // The process before may have ended between a write and its sync, or by a sync that failed. What is read here
      // must be what a power cut would leave, because the next group write will vouch for it.
      BRAID_TRY_VOID(file_->sync_data());
      BRAID_TRY_VOID(file_->discard_cache());
    }
    BRAID_TRY(size, file_->size());
    size_ = size;
    reader_.emplace(file_);
    BRAID_TRY_VOID(read_header(sequence, end_before));
    here_.position = format::block_bytes;
    while (true) {
      BRAID_TRY(header, read_group());
      if (!header || header->sequence != found_.end.next_group || header->previous_crc != found_.end.previous_crc)
        break;
      BRAID_TRY_VOID(take_group(sequence, *header));
      here_.position += format::group_size(header->payload_bytes);
    }
    if (here_.position == format::block_bytes) return damaged(here_, "the file's first group write is not readable");
    if (is_last) BRAID_TRY_VOID(judge_tail());
    if (is_last && shown_ != nullptr) shown_->on_end(here_.path, here_.position, found_.cut_bytes);
    found_.end.file_sequence = sequence;
    found_.end.file = file_;
    found_.end.position = here_.position;
    found_.files[sequence] = {file_, here_.position};
    return {};
  }

  // `end_before`: where the last sound group write of the file before ends.
  status read_header(std::uint64_t sequence, const place& end_before) {
    BRAID_TRY(block, reader_->read(0, format::block_bytes));
    if (block.size() < format::block_bytes) return damaged(here_, "the file is shorter than its header");
    auto header = format::parse_file_header(block);
    if (!header) {
      if (header.error().code == errc::corrupt) return damaged(here_, header.error().message);
      return fail(header.error().code, fmt::format("{} {}; nothing was changed", here_.path, header.error().message));
    }
    if (header->file_sequence != sequence) {
      return damaged(here_, fmt::format("the header is that of file {}", header->file_sequence));
    }
    const bool first = found_.files.empty();
    if (first) found_.end.next_group = header->first_group;
    const std::uint64_t expected = found_.end.next_group;
    if (header->first_group > expected) {
      return damaged(end_before, fmt::format("group write {} is not readable, and the next file, which begins with "
                                             "group write {}, vouches for it",
                                             expected, header->first_group));
    }
    if (header->first_group < expected) {
      return damaged(
          here_, fmt::format("the file begins with group write {}, but {} comes next", header->first_group, expected));
    }
    if (shown_ != nullptr) shown_->on_file(here_.path, *header);
    found_.end.incarnation = header->incarnation;
    seed_ = format::crc_seed(header->incarnation);
    at_file_start_ = true;
    adopt_previous_ = first;
    return {};
  }

  // The header of the sound group write that begins here, and its bytes in group_. Nothing when there is none.
  result<std::optional<format::group_header>> read_group() {
    BRAID_TRY(block, reader_->read(here_.position, format::block_bytes));
    const auto header = format::parse_group_header(block, here_.position, seed_);
    if (!header || format::group_size(header->payload_bytes) > size_ - here_.position)
      return std::optional<format::group_header>();
    BRAID_TRY(group, reader_->read(here_.position, format::group_size(header->payload_bytes)));
    if (!format::is_sound(group, *header, seed_)) return std::optional<format::group_header>();
    if (adopt_previous_) {
      // Files before the first one were trimmed away; the chain begins here.
      found_.end.previous_crc = header->previous_crc;
      adopt_previous_ = false;
    }
    group_ = group;
    return header;
  }

  status take_group(std::uint64_t file, const format::group_header& header) {
    const bool is_state = header.kind == format::group_kind::state;
    if (is_state != at_file_start_) return damaged(here_, "a group write of the wrong kind for its place");
    at_file_start_ = false;
    if (is_state) {
      BRAID_TRY_VOID(take_states(header));
    } else if (header.kind == format::group_kind::items) {
      auto items = format::parse_items(bytes::copy_of(group_), header);
      if (!items) return damaged(here_, items.error().message);
      if (shown_ != nullptr) shown_->on_items(header, *items);
      const group_place place{file, here_.position, group_.size()};
      for (const append_item& item : *items) {
        if (!format::advance(found_.end.states[item.group], item)) {
          return damaged(here_, fmt::format("entries of Raft group {} do not follow those before", item.group));
        }
        if (item.entries.empty()) continue;
        note_terms(found_.terms[item.group], item.entries);
        found_.positions.add(item.group, item.entries.front().index, item.entries.back().index, place);
      }
    } else if (shown_ != nullptr) {
      shown_->on_mark(header);
    }
    found_.vouched = header.kind != format::group_kind::items;
    found_.end.next_group = header.sequence + 1;
    found_.end.previous_crc = header.crc;
    return {};
  }

  status take_states(const format::group_header& header) {
    auto states = format::parse_states(format::payload_of(group_, header));
    if (!states) return damaged(here_, states.error().message);
    if (shown_ != nullptr) shown_->on_states(header, *states);
    if (!found_.files.empty() && *states != found_.end.states) {
      return damaged(here_, "the file's state group contradicts the files before it");
    }
    found_.end.states = std::move(*states);
    return {};
  }

  // No sound next group write where one could be: the end of the log, a write that a power cut has torn, or damage of
  // what was durable. A group write is begun when the one before it is durable, so that its header vouches for that one
  // even where the rest of it is torn.
  status judge_tail() {
    const std::uint64_t expected = found_.end.next_group;
    for (std::uint64_t at = here_.position;; at += format::block_bytes) {
      BRAID_TRY(block, reader_->read(at, format::block_bytes));
      if (block.empty()) return {};
      const auto header = format::parse_group_header(block, at, seed_);
      if (!header) continue;
      if (header->durable >= expected) {
        return damaged(
            here_, fmt::format("group write {} is not readable, and group write {} at byte {} vouches for it", expected,
                               header->sequence, at));
      }
      if (at == here_.position) found_.cut_bytes = format::group_size(header->payload_bytes);
    }
  }

  io::file_system& fs_;
  const std::string& folder_;
  visitor* shown_;
  recovery found_;

  // Of the file that is being read.
  place here_;
  std::shared_ptr<io::file> file_;
  std::optional<windowed_reader> reader_;
  byte_view group_;
  std::uint64_t size_ = 0;
  std::uint32_t seed_ = 0;
  bool at_file_start_ = false;
  bool adopt_previous_ = false;
};

// Who names a folder with a WAL in each of its folders, as wal.dir is one, means these.
std::string no_wal_in(io::file_system& fs, const std::string& folder) {
  std::string holding;
  const auto names = fs.list(folder);
  if (!names) return fmt::format("{} holds no WAL", folder);
  for (const std::string& name : *names) {
    const std::string path = folder.ends_with('/') ? folder + name : folder + "/" + name;
    const auto content = list_folder(fs, path);
    if (!content || content->files.empty()) continue;
    holding += (holding.empty() ? "" : ", ") + path;
  }
  return holding.empty() ? fmt::format("{} holds no WAL", folder)
                         : fmt::format("{} holds no WAL itself, but there is one in {}", folder, holding);
}

}  // namespace

result<recovery> recover(io::file_system& fs, const std::string& folder) {
  BRAID_TRY(content, list_folder(fs, folder));
  scanner scan(fs, folder, nullptr);
  if (auto sound = scan.scan(content.files); !sound) return tl::unexpected<error>(std::move(sound).error());
  recovery found = scan.take();
  found.spares = std::move(content.spares);
  for (const std::string& name : content.unfinished) BRAID_TRY_VOID(fs.remove(folder + "/" + name));
  BRAID_TRY_VOID(fs.sync_directory(folder));
  return found;
}

status inspect(io::file_system& fs, const std::string& folder, visitor& shown) {
  BRAID_TRY(content, list_folder(fs, folder));
  if (content.files.empty()) return fail(errc::wrong_format, no_wal_in(fs, folder));
  return scanner(fs, folder, &shown).scan(content.files);
}

}  // namespace braidmq::wal
