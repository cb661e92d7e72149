#include "wal/spares.hpp"

#include <algorithm>
#include <utility>

#include "wal/format.hpp"

namespace braidmq::wal {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20U;

std::string unfinished(const std::string& path) {
  return path + std::string(format::unfinished_suffix);
}

// Of a file that gets its name when it is whole.
struct preparation {
  io::file_system& fs;
  std::string path;
  std::uint64_t size_bytes;
  std::shared_ptr<io::file> file = nullptr;
  std::uint64_t position = 0;

  status open() {
    BRAID_TRY(opened, fs.open_direct(unfinished(path), io::open_mode::create));
    file = std::move(opened);
    return file->truncate(0);
  }

  // Whether it is whole.
  result<bool> write_piece() {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, size_bytes - position));
    BRAID_TRY_VOID(file->write_at(position, std::vector<std::byte>(size)));
    position += size;
    if (position < size_bytes) return false;
    BRAID_TRY_VOID(file->sync_data());
    BRAID_TRY_VOID(fs.rename(unfinished(path), path));
    return true;
  }

  // A file that cannot be made need not take space.
  void give_up() { (void)fs.remove(unfinished(path)); }
};

struct background_preparation {
  preparation work;
  io::executor& background;
  std::weak_ptr<void> wanted;
  unique_function<void(result<std::shared_ptr<io::file>>)> done;
};

void go_on(std::unique_ptr<background_preparation> state) {
  io::executor& background = state->background;
  background.post([state = std::move(state)]() mutable {
    if (state->wanted.expired()) return;
    auto& work = state->work;
    status opened = work.file == nullptr ? work.open() : status();
    auto whole = opened ? work.write_piece() : result<bool>(tl::unexpected<error>(std::move(opened).error()));
    if (!whole) {
      work.give_up();
      state->done(tl::unexpected<error>(std::move(whole).error()));
    } else if (*whole) {
      state->done(std::move(work.file));
    } else {
      go_on(std::move(state));
    }
  });
}

}  // namespace

void prepare_spare(io::file_system& fs, io::executor& background, std::string path, std::uint64_t size_bytes,
                   std::weak_ptr<void> wanted, unique_function<void(result<std::shared_ptr<io::file>>)> done) {
  go_on(std::make_unique<background_preparation>(background_preparation{
      {fs, std::move(path), format::whole_blocks(size_bytes)}, background, std::move(wanted), std::move(done)}));
}

result<std::shared_ptr<io::file>> make_spare(io::file_system& fs, const std::string& path, std::uint64_t size_bytes) {
  preparation work{fs, path, format::whole_blocks(size_bytes)};
  BRAID_TRY_VOID(work.open());
  while (true) {
    auto whole = work.write_piece();
    if (whole && !*whole) continue;
    if (whole) return std::move(work.file);
    work.give_up();
    return tl::unexpected<error>(std::move(whole).error());
  }
}

result<std::vector<spare_file>> adopt_spares(io::file_system& fs, const std::string& folder,
                                             const std::vector<std::string>& names, std::uint64_t size_bytes,
                                             std::size_t most) {
  std::vector<spare_file> adopted;
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    BRAID_TRY(file, fs.open_direct(path, io::open_mode::read_write));
    BRAID_TRY(size, file->size());
    if (size >= size_bytes && adopted.size() < most) {
      adopted.push_back({name, std::move(file)});
    } else {
      BRAID_TRY_VOID(fs.remove(path));
    }
  }
  return adopted;
}

result<std::vector<spare_file>> retire_files(io::file_system& fs, const std::string& folder,
                                             const std::vector<retired_file>& oldest_first, std::uint64_t size_bytes,
                                             std::uint64_t first_number, std::size_t most) {
  std::vector<spare_file> spares;
  for (const retired_file& one : oldest_first) {
    const std::string path = folder + "/" + format::file_name(one.sequence);
    std::uint64_t size = 0;
    if (one.file != nullptr && spares.size() < most) {
      BRAID_TRY(found, one.file->size());
      size = found;
    }
    if (size >= size_bytes) {
      spare_file spare{format::spare_name(first_number + spares.size()), one.file};
      BRAID_TRY_VOID(fs.rename(path, folder + "/" + spare.name));
      spares.push_back(std::move(spare));
    } else {
      BRAID_TRY_VOID(fs.remove(path));
    }
    BRAID_TRY_VOID(fs.sync_directory(folder));
  }
  return spares;
}

}  // namespace braidmq::wal
