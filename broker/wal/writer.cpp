#include "wal/writer.hpp"

#include <utility>

#include "base/check.hpp"

namespace braidmq::wal {

writer::writer(io::file_system& fs, io::random_source& random, const io::clock& clock, const options& options,
               log_end end)
    : fs_(fs),
      random_(random),
      clock_(clock),
      folder_(options.folder),
      file_bytes_(options.file_bytes),
      end_(std::move(end)) {}

format::group_header writer::next_header(format::group_kind kind, std::uint64_t position) const {
  format::group_header header;
  header.kind = kind;
  header.sequence = end_.next_group;
  header.durable = end_.next_group - 1;  // one write at a time: the one before has been synced
  header.position = position;
  header.previous_crc = end_.previous_crc;
  return header;
}

status writer::begin_file(const std::optional<spare_file>& spare) {
  const format::file_header file{random_.next_uuid(), end_.file_sequence + 1, end_.next_group};
  byte_buffer start;
  format::append_file_header(start, file);

  format::group_header header = next_header(format::group_kind::state, format::block_bytes);
  byte_buffer group;
  format::begin_group(group);
  format::append_states(group, end_.states);
  format::seal_group(group, header, format::crc_seed(file.incarnation));
  start.append(group.view());

  // Under its own name a file is there with header and state group, or not at all: damage there is never a torn write.
  const std::string path = folder_ + "/" + format::file_name(file.file_sequence);
  const std::string unfinished = spare ? folder_ + "/" + spare->name : path + std::string(format::unfinished_suffix);
  std::shared_ptr<io::file> made;
  if (spare) {
    made = spare->file;
  } else {
    BRAID_TRY(opened, fs_.open_direct(unfinished, io::open_mode::create));
    made = std::move(opened);
    BRAID_TRY_VOID(made->truncate(0));
  }
  BRAID_TRY_VOID(made->write_at(0, start.view()));
  BRAID_TRY_VOID(made->sync_data());
  BRAID_TRY_VOID(fs_.rename(unfinished, path));
  BRAID_TRY_VOID(fs_.sync_directory(folder_));

  end_.file_sequence = file.file_sequence;
  end_.file = std::move(made);
  end_.incarnation = file.incarnation;
  end_.position = start.size();
  end_.next_group = header.sequence + 1;
  end_.previous_crc = header.crc;
  file_is_fresh_ = true;
  return {};
}

// A group write that is larger than a file goes into a fresh one, and makes it grow.
bool writer::has_room(std::uint64_t size_bytes) const {
  return file_is_fresh_ || (end_.position < file_bytes_ && size_bytes <= file_bytes_ - end_.position);
}

result<written> writer::write(const std::vector<append_item>& items, std::optional<spare_file> spare) {
  written done;
  std::size_t payload = 0;
  for (const append_item& item : items) payload += format::item_size(item);
  if (!has_room(format::group_size(static_cast<std::uint32_t>(payload)))) {
    BRAID_TRY_VOID(begin(spare, done));
  }
  done.unused = std::move(spare);
  // One copy of everything: the CRC wants to see each byte anyway.
  format::begin_group(buffer_);
  for (const append_item& item : items) {
    BRAID_CHECK(format::advance(end_.states[item.group], item), "group {}: entries do not follow", item.group);
    format::encode_item(buffer_, item);
  }
  BRAID_CHECK(buffer_.size() == format::group_header_bytes + payload, "{} bytes of items, {} expected", buffer_.size(),
              payload);
  BRAID_TRY_VOID(write_group(format::group_kind::items, done));
  // A rare giant must not be kept for ever.
  if (buffer_.size() > (1U << 20U)) buffer_ = byte_buffer();
  return done;
}

result<written> writer::mark(std::optional<spare_file> spare) {
  written done;
  if (!has_room(format::block_bytes)) {
    BRAID_TRY_VOID(begin(spare, done));
    return done;
  }
  done.unused = std::move(spare);
  format::begin_group(buffer_);
  BRAID_TRY_VOID(write_group(format::group_kind::mark, done));
  return done;
}

// A new file, which uses the spare up.
status writer::begin(std::optional<spare_file>& spare, written& done) {
  BRAID_TRY_VOID(begin_file(spare));
  done.recycled = spare.has_value();
  spare.reset();
  done.new_file = end_.file;
  done.place = {end_.file_sequence, format::block_bytes, end_.position - format::block_bytes};
  ++done.groups;
  done.bytes += end_.position;
  ++done.syncs;
  return {};
}

// What is in the buffer.
status writer::write_group(format::group_kind kind, written& done) {
  format::group_header header = next_header(kind, end_.position);
  format::seal_group(buffer_, header, format::crc_seed(end_.incarnation));
  BRAID_TRY_VOID(end_.file->write_at(end_.position, buffer_.view()));
  const auto before_sync = clock_.now();
  BRAID_TRY_VOID(end_.file->sync_data());
  done.sync_nanos = static_cast<std::uint64_t>((clock_.now() - before_sync).count());

  done.place = {end_.file_sequence, end_.position, buffer_.size()};
  ++done.groups;
  done.bytes += buffer_.size();
  ++done.syncs;
  end_.position += buffer_.size();
  end_.next_group = header.sequence + 1;
  end_.previous_crc = header.crc;
  file_is_fresh_ = false;
  return {};
}

}  // namespace braidmq::wal
