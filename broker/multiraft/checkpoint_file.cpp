#include "multiraft/checkpoint_file.hpp"

#include <array>
#include <utility>

#include "base/check.hpp"
#include "base/crc32c.hpp"
#include "base/endian.hpp"
#include "multiraft/group.hpp"

namespace braidmq::multiraft {
namespace {

// docs/formats/checkpoint.md
constexpr std::string_view magic = "BRAIDCKP";
constexpr std::uint16_t format = 1;
constexpr std::size_t frame_head_bytes = 4 + 4 + 1;  // length u32, CRC u32, kind u8
constexpr std::size_t head_payload_bytes = 8 + 2 + 4 + 8 + 8;
constexpr std::uint8_t end_kind = 0;
constexpr std::uint8_t head_kind = 255;
constexpr std::size_t largest_payload = std::size_t{1} << 30U;
constexpr std::size_t flush_bytes = std::size_t{1} << 20U;

std::string temporary(const std::string& path) {
  return path + ".tmp";
}

std::uint32_t crc_of(std::uint8_t kind, byte_view payload, std::uint32_t previous) {
  const auto first = static_cast<std::byte>(kind);
  return crc32c(payload, crc32c({&first, 1}, previous));
}

}  // namespace

result<checkpoint_writer> checkpoint_writer::begin(io::file_system& fs, const std::string& path,
                                                   const checkpoint_id& id) {
  BRAID_TRY(file, fs.open(temporary(path), io::open_mode::create));
  BRAID_TRY_VOID(file->truncate(0));
  checkpoint_writer writer(fs, path, std::move(file));
  byte_buffer head(head_payload_bytes);
  head.append(magic);
  head.append_be(format);
  head.append_be(id.group.value());
  head.append_be(id.index.value());
  head.append_be(id.term.value());
  BRAID_CHECK(head.size() == head_payload_bytes);
  writer.append_frame(head_kind, head.view());
  return writer;
}

void checkpoint_writer::append_frame(std::uint8_t kind, byte_view payload) {
  BRAID_CHECK(payload.size() <= largest_payload, "frame of {} bytes", payload.size());
  crc_ = crc_of(kind, payload, crc_);
  buffer_.append_be(static_cast<std::uint32_t>(payload.size()));
  buffer_.append_be(crc_);
  buffer_.append_be(kind);
  buffer_.append(payload);
  ++frames_;
}

status checkpoint_writer::flush() {
  BRAID_TRY_VOID(file_->write_at(position_, buffer_.view()));
  position_ += buffer_.size();
  buffer_.clear();
  return {};
}

status checkpoint_writer::add(std::uint8_t kind, byte_view payload) {
  BRAID_CHECK(kind != end_kind && kind != head_kind);
  append_frame(kind, payload);
  return buffer_.size() >= flush_bytes ? flush() : status();
}

result<std::uint64_t> checkpoint_writer::commit() {
  byte_buffer count;
  count.append_be(frames_);
  append_frame(end_kind, count.view());
  BRAID_TRY_VOID(flush());
  BRAID_TRY_VOID(file_->sync_data());
  BRAID_TRY_VOID(fs_->rename(temporary(path_), path_));
  BRAID_TRY_VOID(fs_->sync_directory(path_.substr(0, path_.rfind('/'))));
  return position_;
}

void checkpoint_writer::discard(io::file_system& fs, const std::string& path) {
  const auto there = fs.exists(temporary(path));
  if (there && *there) static_cast<void>(fs.remove(temporary(path)));
}

tl::unexpected<error> checkpoint_reader::damaged(const std::string& what) const {
  return fail(errc::checkpoint_damaged,
              fmt::format("{}: {}; nothing was changed: restore this volume, or empty it together with the write-ahead "
                          "log to begin anew",
                          path_, what));
}

tl::unexpected<error> checkpoint_reader::later(const std::string& what) const {
  return fail(errc::checkpoint_format, fmt::format("{}: {}: start the later version again", path_, what));
}

result<std::optional<checkpoint_reader>> checkpoint_reader::open(io::file_system& fs, const std::string& path,
                                                                 raft::group_id group) {
  auto file = fs.open(path, io::open_mode::read);
  if (!file) {
    if (file.error().code == io::errc::not_found) return std::optional<checkpoint_reader>();
    return tl::unexpected<error>(std::move(file).error());
  }
  // Its name may be newer than any sync of the folder: a kill may have come between the two. Whoever builds on it, and
  // lets go of what the one before it spoke of, needs it to stay.
  BRAID_TRY_VOID(fs.sync_directory(path.substr(0, path.rfind('/'))));
  BRAID_TRY(size, (*file)->size());
  checkpoint_reader reader(path, std::move(*file), size);
  BRAID_TRY_VOID(reader.read_head(group));
  return std::optional(std::move(reader));
}

status checkpoint_reader::read_head(raft::group_id group) {
  BRAID_TRY(head, read_frame());
  if (head.kind != head_kind || head.payload.size() < magic.size() + 2 ||
      as_string_view(head.payload.view().first(magic.size())) != magic) {
    return damaged("it does not begin as a checkpoint");
  }
  const std::byte* at = head.payload.data() + magic.size();
  const auto version = load_be<std::uint16_t>(at);
  if (version != format) {
    return later(fmt::format("it has format {}, this version reads {}", version, format));
  }
  if (head.payload.size() != head_payload_bytes) return damaged("its first frame has another size");
  id_.group = raft::group_id(load_be<raft::group_id::rep>(at + 2));
  id_.index = raft::index(load_be<std::uint64_t>(at + 6));
  id_.term = raft::term(load_be<std::uint64_t>(at + 14));
  if (id_.group != group) {
    return fail(errc::checkpoint_format,
                fmt::format("{} is the checkpoint of group {}, not of {}", path_, id_.group, group));
  }
  return {};
}

result<checkpoint_frame> checkpoint_reader::read_frame() {
  std::array<std::byte, frame_head_bytes> head;
  BRAID_TRY(got, file_->read_at(position_, head));
  if (got < head.size()) return damaged(fmt::format("it ends at position {}, inside a frame", position_ + got));
  const std::uint64_t length = load_be<std::uint32_t>(head.data());
  if (length > largest_payload || length > size_ - position_ - head.size()) {
    return damaged(fmt::format("the frame at position {} says that it has {} bytes", position_, length));
  }
  std::vector<std::byte> payload(length);
  BRAID_TRY(filled, file_->read_at(position_ + head.size(), payload));
  const auto kind = std::to_integer<std::uint8_t>(head[8]);
  const std::uint32_t crc = crc_of(kind, payload, crc_);
  if (filled < length || crc != load_be<std::uint32_t>(head.data() + 4)) {
    return damaged(fmt::format("the CRC of the frame at position {} does not match", position_));
  }
  crc_ = crc;
  position_ += head.size() + length;
  ++frames_;
  return checkpoint_frame{kind, bytes::take(std::move(payload))};
}

result<std::optional<checkpoint_frame>> checkpoint_reader::next() {
  BRAID_TRY(frame, read_frame());
  if (frame.kind != end_kind) return std::optional(std::move(frame));
  const bool counts = frame.payload.size() == 8 && load_be<std::uint64_t>(frame.payload.data()) == frames_ - 1;
  if (!counts || position_ != size_) return damaged(fmt::format("it does not end at position {}", position_));
  return std::optional<checkpoint_frame>();
}

}  // namespace braidmq::multiraft
