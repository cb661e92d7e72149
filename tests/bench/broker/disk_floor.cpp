#include "bench/broker/disk_floor.hpp"

#include <filesystem>

namespace braidmq::bench {
namespace {

constexpr std::uint64_t file_bytes = 64U << 20U;  // as one of the log
constexpr std::size_t step_bytes = 1U << 20U;

}  // namespace

result<std::unique_ptr<disk_floor>> disk_floor::make(const std::string& folder) {
  const std::string path = folder + "/floor.tmp";
  BRAID_TRY(file, io::posix_file_system().open_direct(path, io::open_mode::create));
  std::unique_ptr<disk_floor> made(new disk_floor(path, std::move(file)));
  const std::vector<std::byte> zeros(step_bytes);
  for (std::uint64_t at = 0; at < file_bytes; at += step_bytes) {
    BRAID_TRY_VOID(made->file_->write_at(at, byte_view(zeros)));
  }
  BRAID_TRY_VOID(made->file_->sync_data());
  return made;
}

disk_floor::~disk_floor() {
  std::error_code ignored;  // it goes with its folder
  std::filesystem::remove(path_, ignored);
}

result<io::duration> disk_floor::write() {
  alignas(io::direct_block_bytes) static constexpr std::array<std::byte, io::direct_block_bytes> block{std::byte{7}};
  const io::time_point before = io::system_clock().now();
  BRAID_TRY_VOID(file_->write_at(position_, byte_view(block)));
  BRAID_TRY_VOID(file_->sync_data());
  position_ = (position_ + block.size()) % file_bytes;
  return io::system_clock().now() - before;
}

result<io::duration> plain_read(const std::vector<std::string>& paths, std::uint64_t& bytes_read) {
  bytes_read = 0;
  std::vector<std::byte> block(step_bytes);
  const io::time_point before = io::system_clock().now();
  for (const std::string& path : paths) {
    BRAID_TRY(file, io::posix_file_system().open_direct(path, io::open_mode::read));
    std::uint64_t at = 0;
    while (true) {
      BRAID_TRY(got, file->read_at(at, block));
      at += got;
      if (got < block.size()) break;
    }
    bytes_read += at;
  }
  return io::system_clock().now() - before;
}

}  // namespace braidmq::bench
