// Bits that turn over on the disk while nobody looks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/sim_file_system.hpp"

namespace braidmq::sim {

struct turned_bit {
  std::string path;
  std::uint64_t position = 0;
  std::uint8_t mask = 1;
};

// Of a file that has bytes: each file is as likely as any other, and so is each of its bytes. None: there is no such
// file.
std::optional<turned_bit> draw_turned_bit(sim_file_system& disk, const std::vector<std::string>& folders, rng& chance);

// Of all names and bytes below the folders.
std::uint64_t hash_of_files(sim_file_system& disk, const std::vector<std::string>& folders);

}  // namespace braidmq::sim
