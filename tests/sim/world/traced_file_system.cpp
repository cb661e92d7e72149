#include "world/traced_file_system.hpp"

#include <utility>

#include "multiraft/checkpoint_file.hpp"

namespace braidmq::sim {
namespace {

enum kind : std::uint64_t { open_file, make_folder, remove_name, rename_name, sync_folder, write, sync, truncate };

class traced_file final : public io::file {
 public:
  traced_file(std::unique_ptr<io::file> target, trace& events, bool ignores_sync)
      : target_(std::move(target)), events_(events), ignores_sync_(ignores_sync) {}

  result<std::size_t> read_at(std::uint64_t position, mutable_byte_view target) const override {
    return target_->read_at(position, target);
  }
  status write_at(std::uint64_t position, std::span<const byte_view> parts) override {
    events_.mix(event::file, write + (position << 4U));
    for (const byte_view part : parts) events_.mix(event::file, part);
    return target_->write_at(position, parts);
  }
  status sync_data() override {
    events_.mix(event::file, sync);
    return ignores_sync_ ? status() : target_->sync_data();
  }
  status discard_cache() override { return target_->discard_cache(); }
  status truncate(std::uint64_t size) override {
    events_.mix(event::file, kind::truncate + (size << 4U));
    return target_->truncate(size);
  }
  result<std::uint64_t> size() const override { return target_->size(); }

 private:
  std::unique_ptr<io::file> target_;
  trace& events_;
  bool ignores_sync_;
};

// Writes the checkpoint once more, as if it stood one entry further.
status move_ahead(io::file_system& fs, const std::string& path) {
  constexpr raft::group_id braid(1);
  BRAID_TRY(reader, multiraft::checkpoint_reader::open(fs, path, braid));
  BRAID_CHECK(reader.has_value());
  multiraft::checkpoint_id id = reader->id();
  ++id.index;
  BRAID_TRY(writer, multiraft::checkpoint_writer::begin(fs, path, id));
  while (true) {
    BRAID_TRY(frame, reader->next());
    if (!frame) break;
    BRAID_TRY_VOID(writer.add(frame->kind, frame->payload));
  }
  BRAID_TRY(size, writer.commit());
  static_cast<void>(size);
  return {};
}

}  // namespace

void traced_file_system::note(std::uint64_t kind, const std::string& path) {
  events_.mix(event::file, kind);
  events_.mix(event::file, as_byte_view(path));
}

std::unique_ptr<io::file> traced_file_system::traced(std::unique_ptr<io::file> file, const std::string& path) {
  const bool ignores_sync = !ignore_sync_.empty() && path.starts_with(ignore_sync_);
  return std::make_unique<traced_file>(std::move(file), events_, ignores_sync);
}

result<std::unique_ptr<io::file>> traced_file_system::open(const std::string& path, io::open_mode mode) {
  note(open_file, path);
  BRAID_TRY(opened, target_.open(path, mode));
  return traced(std::move(opened), path);
}

result<std::unique_ptr<io::file>> traced_file_system::open_direct(const std::string& path, io::open_mode mode) {
  note(open_file, path);
  BRAID_TRY(opened, target_.open_direct(path, mode));
  return traced(std::move(opened), path);
}

status traced_file_system::make_directories(const std::string& folder) {
  note(make_folder, folder);
  return target_.make_directories(folder);
}

status traced_file_system::remove(const std::string& path) {
  note(remove_name, path);
  return target_.remove(path);
}

status traced_file_system::rename(const std::string& from, const std::string& to) {
  note(rename_name, from);
  note(rename_name, to);
  if (checkpoint_ahead_ && to.ends_with("/checkpoints/braid")) BRAID_TRY_VOID(move_ahead(target_, from));
  return target_.rename(from, to);
}

status traced_file_system::sync_directory(const std::string& folder) {
  note(sync_folder, folder);
  const bool ignores = !ignore_directory_sync_.empty() && folder.starts_with(ignore_directory_sync_);
  return ignores ? status() : target_.sync_directory(folder);
}

}  // namespace braidmq::sim
