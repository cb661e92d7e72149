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

status writer::begin_file() {
  const format::file_header file{random_.next_uuid(), end_.file_sequence + 1, end_.next_group};
  byte_buffer first_block;
  format::append_file_header(first_block, file);

  format::group_header header = next_header(format::group_kind::state, format::block_bytes);
  byte_buffer group;
  format::begin_group(group);
  format::append_states(group, end_.states);
  format::seal_group(group, header, format::crc_seed(file.incarnation));

  // Under its own name a file is there with header and state group, or not at all: damage there is never a torn write.
  const std::string path = folder_ + "/" + format::file_name(file.file_sequence);
  const std::string unfinished = path + std::string(format::unfinished_suffix);
  BRAID_TRY(made, fs_.open(unfinished, io::open_mode::create));
  BRAID_TRY_VOID(made->truncate(0));
  const byte_view parts[] = {first_block.view(), group.view()};
  BRAID_TRY_VOID(made->write_at(0, parts));
  BRAID_TRY_VOID(made->sync_data());
  BRAID_TRY_VOID(fs_.rename(unfinished, path));
  BRAID_TRY_VOID(fs_.sync_directory(folder_));

  end_.file_sequence = file.file_sequence;
  end_.file = std::move(made);
  end_.incarnation = file.incarnation;
  end_.position = first_block.size() + group.size();
  end_.next_group = header.sequence + 1;
  end_.previous_crc = header.crc;
  return {};
}

result<written> writer::write(const std::vector<append_item>& items) {
  written done;
  if (end_.position >= file_bytes_) {
    BRAID_TRY_VOID(begin_file());
    done.new_file = end_.file;
    done.bytes += end_.position;
    ++done.syncs;
  }
  // One copy of everything: the CRC wants to see each byte anyway, and direct I/O wants one aligned block.
  format::begin_group(buffer_);
  for (const append_item& item : items) {
    BRAID_CHECK(format::advance(end_.states[item.group], item), "group {}: entries do not follow", item.group);
    format::encode_item(buffer_, item);
  }
  format::group_header header = next_header(format::group_kind::items, end_.position);
  format::seal_group(buffer_, header, format::crc_seed(end_.incarnation));
  BRAID_TRY_VOID(end_.file->write_at(end_.position, buffer_.view()));
  const auto before_sync = clock_.now();
  BRAID_TRY_VOID(end_.file->sync_data());
  done.sync_nanos = static_cast<std::uint64_t>((clock_.now() - before_sync).count());

  done.place = {end_.file_sequence, end_.position, buffer_.size()};
  done.bytes += buffer_.size();
  ++done.syncs;
  end_.position += buffer_.size();
  end_.next_group = header.sequence + 1;
  end_.previous_crc = header.crc;
  // A rare giant must not be kept for ever.
  if (buffer_.size() > (1U << 20U)) buffer_ = byte_buffer();
  return done;
}

}  // namespace braidmq::wal
