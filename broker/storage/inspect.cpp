#include "storage/inspect.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/crc32c.hpp"
#include "base/endian.hpp"
#include "storage/format.hpp"

namespace braidmq::storage {
namespace {

constexpr std::size_t window_bytes = std::size_t{1} << 20U;

// A file by windows.
class window_reader {
 public:
  static result<window_reader> open(io::file_system& fs, const std::string& path) {
    BRAID_TRY(opened, fs.open(path, io::open_mode::read));
    BRAID_TRY(size, opened->size());
    return window_reader(std::move(opened), size);
  }

  std::uint64_t size() const { return size_; }

  // Up to `most` bytes from `position`; fewer only at the end of the file or of the window.
  result<byte_view> at(std::uint64_t position, std::size_t least, std::size_t most) {
    const bool has = position >= begin_ && position + least <= begin_ + window_.size();
    if (!has) {
      window_.resize(std::min<std::uint64_t>(window_bytes, size_ - std::min(size_, position)));
      begin_ = position;
      BRAID_TRY(got, file_->read_at(position, window_));
      window_.resize(got);
    }
    const std::size_t skip = position - begin_;
    return byte_view(window_).subspan(skip, std::min(most, window_.size() - skip));
  }

 private:
  window_reader(std::unique_ptr<io::file> opened, std::uint64_t size) : file_(std::move(opened)), size_(size) {}

  std::unique_ptr<io::file> file_;
  std::uint64_t size_;
  std::uint64_t begin_ = 0;
  std::vector<std::byte> window_;
};

// The entries of an index, one after the other, until something is wrong with them.
class index_walk {
 public:
  index_walk(io::file_system& fs, std::string path, std::size_t entry_bytes, segment_visitor& shown)
      : path_(std::move(path)), entry_bytes_(entry_bytes), shown_(shown) {
    if (auto opened = window_reader::open(fs, path_)) reader_.emplace(std::move(*opened));
  }

  bool exists() const { return reader_.has_value(); }
  bool is_damaged() const { return damaged_; }
  std::uint64_t entries() const { return reader_->size() / entry_bytes_; }

  // The next entry; empty when there is none left that makes sense.
  byte_view peek() {
    if (!exists() || damaged_ || position_ >= reader_->size()) return {};
    const auto bytes = reader_->at(position_, std::min<std::uint64_t>(entry_bytes_, left()), entry_bytes_);
    if (bytes && bytes->size() == entry_bytes_) return *bytes;
    report(bytes ? "the file ends inside an entry" : bytes.error().to_string());
    return {};
  }
  void take() { position_ += entry_bytes_; }
  void report(const std::string& what) {
    damaged_ = true;
    shown_.on_damage(path_, position_, what);
  }

 private:
  std::uint64_t left() const { return reader_->size() - position_; }

  std::string path_;
  std::size_t entry_bytes_;
  segment_visitor& shown_;
  std::optional<window_reader> reader_;
  std::uint64_t position_ = 0;
  bool damaged_ = false;
};

class inspection {
 public:
  inspection(io::file_system& fs, const std::string& path, window_reader log, segment_visitor& shown)
      : path_(path), log_(std::move(log)), shown_(shown) {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
    const auto name = parse_segment_file(std::string_view(path).substr(folder.size()));
    if (!name || name->kind != file_kind::log) return;
    base_ = name->base;
    expected_ = base_;
    offsets_.emplace(fs, folder + segment_file(*base_, file_kind::offset_index), offset_index_entry_bytes, shown);
    times_.emplace(fs, folder + segment_file(*base_, file_kind::time_index), time_index_entry_bytes, shown);
  }

  result<bool> run() {
    shown_.on_segment(path_, log_.size());
    while (position_ < log_.size()) {
      BRAID_TRY(goes_on, next_batch());
      if (!goes_on) break;
    }
    // What could not be read may be what the rest of the indexes speaks of.
    if (position_ >= log_.size()) {
      for (auto* index : {&offsets_, &times_}) {
        if (*index && !(*index)->peek().empty()) (*index)->report("no batch begins where this entry says");
      }
    }
    summary_.bytes = position_;
    if (offsets_ && offsets_->exists()) summary_.offset_index_entries = offsets_->entries();
    if (times_ && times_->exists()) summary_.time_index_entries = times_->entries();
    shown_.on_end(path_, summary_);
    return !damaged_ && !(offsets_ && offsets_->is_damaged()) && !(times_ && times_->is_damaged());
  }

 private:
  void report(const std::string& what) {
    damaged_ = true;
    shown_.on_damage(path_, position_, what);
  }

  // False: nothing behind this can be read.
  result<bool> next_batch() {
    const std::uint64_t left = log_.size() - position_;
    const std::size_t header_bytes = std::min<std::uint64_t>(model::batch_layout::header_bytes, left);
    BRAID_TRY(begin, log_.at(position_, header_bytes, header_bytes));
    const auto parsed = model::parse_batch_header(begin);
    if (!parsed) {
      report(parsed.error().code == model::errc::incomplete_batch
                 ? fmt::format("the file ends inside the header of a batch, after {} bytes", left)
                 : parsed.error().to_string());
      return false;
    }
    const model::batch_header& header = *parsed;
    if (header.size_bytes() > left) {
      report(fmt::format("the file ends inside a batch: {} of {} bytes", left, header.size_bytes()));
      return false;
    }
    const std::int64_t base = header.base_offset.value();
    if (base < 0 || header.last_offset_delta < 0 ||
        base > std::numeric_limits<std::int64_t>::max() - 1 - header.last_offset_delta) {
      report(fmt::format("a batch with base offset {} and offset delta {}", base, header.last_offset_delta));
      return false;
    }
    BRAID_TRY(crc, crc_of(header));
    shown_.on_batch(position_, header, crc == header.crc);
    if (crc != header.crc) report("the CRC of the batch does not match");
    if (expected_ && header.base_offset != *expected_) {
      report(fmt::format("the batch begins at offset {} and not at {}", base, *expected_));
    }
    check_indexes(header);
    max_timestamp_ms_ = std::max(max_timestamp_ms_, header.max_timestamp_ms);
    expected_ = header.last_offset() + 1;
    summary_.end = *expected_;
    ++summary_.batches;
    position_ += header.size_bytes();
    return true;
  }

  result<std::uint32_t> crc_of(const model::batch_header& header) {
    std::uint32_t crc = 0;
    const std::uint64_t end = position_ + header.size_bytes();
    for (std::uint64_t at = position_ + model::batch_layout::attributes; at < end;) {
      BRAID_TRY(piece, log_.at(at, 1, end - at));
      if (piece.empty()) return fail(io::errc::device_error, fmt::format("{} became shorter", path_));
      crc = crc32c(piece, crc);
      at += piece.size();
    }
    return crc;
  }

  void check_indexes(const model::batch_header& header) {
    if (!base_) return;
    const std::int64_t relative = header.base_offset - *base_;
    bool has_offset_entry = !offsets_->exists() || offsets_->is_damaged();
    if (const byte_view entry = offsets_->peek(); !entry.empty()) {
      const auto says = load_be<std::uint32_t>(entry.data());
      const auto place = load_be<std::uint32_t>(entry.data() + 4);
      if (says < relative) {
        offsets_->report(fmt::format("no batch begins at offset {}", *base_ + says));
      } else if (says == relative && place != position_) {
        offsets_->report(fmt::format("offset {} is at position {} and not at {}", *base_ + says, position_, place));
      } else if (says == relative) {
        offsets_->take();
        has_offset_entry = true;
      }
    }
    if (const byte_view entry = times_->peek(); !entry.empty()) {
      const auto time = load_be<std::int64_t>(entry.data());
      const auto says = load_be<std::uint32_t>(entry.data() + 8);
      if (says < relative) {
        times_->report(fmt::format("no batch begins at offset {}", *base_ + says));
      } else if (says == relative && time != max_timestamp_ms_) {
        times_->report(fmt::format("the highest timestamp below offset {} is {} and not {}", *base_ + says,
                                   max_timestamp_ms_, time));
      } else if (says == relative && !has_offset_entry) {
        times_->report(fmt::format("the offset index has no entry for offset {}", *base_ + says));
      } else if (says == relative) {
        times_->take();
      }
    }
  }

  const std::string& path_;
  window_reader log_;
  segment_visitor& shown_;
  std::optional<model::offset> base_;
  std::optional<model::offset> expected_;
  std::optional<index_walk> offsets_;
  std::optional<index_walk> times_;
  std::uint64_t position_ = 0;
  std::int64_t max_timestamp_ms_ = model::no_timestamp;
  bool damaged_ = false;
  segment_summary summary_;
};

}  // namespace

result<bool> inspect_segment(io::file_system& fs, const std::string& path, segment_visitor& shown) {
  BRAID_TRY(log, window_reader::open(fs, path));
  return inspection(fs, path, std::move(log), shown).run();
}

}  // namespace braidmq::storage
