#include "world/bit_rot.hpp"

#include <algorithm>

#include <xxhash.h>

namespace braidmq::sim {
namespace {

struct present_file {
  std::string path;
  std::uint64_t size_bytes = 0;
};

std::vector<present_file> files_below(sim_file_system& disk, const std::vector<std::string>& folders) {
  std::vector<present_file> found;
  std::vector<std::string> left = folders;
  while (!left.empty()) {
    const std::string folder = std::move(left.back());
    left.pop_back();
    const auto names = disk.list(folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      const std::string path = folder + "/" + name;
      auto file = disk.open(path, io::open_mode::read);
      if (!file) {
        left.push_back(path);
        continue;
      }
      const auto size = (*file)->size();
      BRAID_CHECK(size.has_value(), "{}: {}", path, size.error().to_string());
      found.push_back({path, *size});
    }
  }
  // One of the folders may lie in another.
  std::ranges::sort(found, {}, &present_file::path);
  const auto twice = std::ranges::unique(found, {}, &present_file::path);
  found.erase(twice.begin(), twice.end());
  return found;
}

}  // namespace

std::optional<turned_bit> draw_turned_bit(sim_file_system& disk, const std::vector<std::string>& folders, rng& chance) {
  std::vector<present_file> files = files_below(disk, folders);
  std::erase_if(files, [](const present_file& one) { return one.size_bytes == 0; });
  if (files.empty()) return std::nullopt;
  const present_file& one = files[chance.below(files.size())];
  return turned_bit{one.path, chance.below(one.size_bytes), static_cast<std::uint8_t>(1U << chance.below(8))};
}

std::uint64_t hash_of_files(sim_file_system& disk, const std::vector<std::string>& folders) {
  XXH64_hash_t hash = 0;
  for (const present_file& one : files_below(disk, folders)) {
    hash = XXH3_64bits_withSeed(one.path.data(), one.path.size(), hash);
    auto file = disk.open(one.path, io::open_mode::read);
    std::vector<std::byte> content(one.size_bytes);
    BRAID_CHECK(file && (*file)->read_at(0, content).has_value());
    hash = XXH3_64bits_withSeed(content.data(), content.size(), hash);
  }
  return hash;
}

}  // namespace braidmq::sim
