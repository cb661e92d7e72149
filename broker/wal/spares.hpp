// Files of full size that wait to be used: a write into blocks that are there, and were written before, is durable with
// one write of the device, while a file that grows needs its metadata written too.
//
// They are made of zeros ahead of their use, or are files of which nothing is needed any more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/unique_function.hpp"
#include "io/executor.hpp"
#include "io/file_system.hpp"
#include "wal/writer.hpp"

namespace braidmq::wal {

// Writes one, a piece at a time, so that other work of `background` gets its turn. `done` runs there, and does not when
// `wanted` has gone before. `fs` and `background` must outlive the work.
void prepare_spare(io::file_system& fs, io::executor& background, std::string path, std::uint64_t size_bytes,
                   std::weak_ptr<void> wanted, unique_function<void(result<std::shared_ptr<io::file>>)> done);

// The same at once. Blocking.
result<std::shared_ptr<io::file>> make_spare(io::file_system& fs, const std::string& path, std::uint64_t size_bytes);

// Blocking. Those of the spares found at start that have the size; the others are removed.
result<std::vector<spare_file>> adopt_spares(io::file_system& fs, const std::string& folder,
                                             const std::vector<std::string>& names, std::uint64_t size_bytes,
                                             std::size_t most);

struct retired_file {
  std::uint64_t sequence = 0;
  std::shared_ptr<io::file> file;  // null: somebody may still read it, so that it must not be written to
};

// Blocking. Takes files out of the log, the oldest first and each durably before the next: a gap in the middle would be
// damage. Up to `most` of them become spares, with numbers from `first_number` on.
result<std::vector<spare_file>> retire_files(io::file_system& fs, const std::string& folder,
                                             const std::vector<retired_file>& oldest_first, std::uint64_t size_bytes,
                                             std::uint64_t first_number, std::size_t most);

}  // namespace braidmq::wal
