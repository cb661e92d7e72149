// The end of the log where group writes are made: the current file, what the next group write must say, and the state
// of every Raft group for the next file's first group. Blocking; one caller at a time, on the disk executor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/clock.hpp"
#include "io/file_system.hpp"
#include "io/random.hpp"
#include "wal/format.hpp"
#include "wal/position_index.hpp"

namespace braidmq::wal {

// Where the log ends: what recovery finds, or what a new file begins with.
struct log_end {
  std::uint64_t file_sequence = 0;  // 0: there is no file yet
  std::shared_ptr<io::file> file;
  uuid incarnation;
  std::uint64_t position = 0;
  std::uint64_t next_group = 1;
  std::uint32_t previous_crc = 0;
  format::group_states states;
};

// What a group write has come to.
struct written {
  group_place place;
  std::shared_ptr<io::file> new_file;  // set when a file was begun for it
  std::uint64_t bytes = 0;
  std::uint64_t syncs = 0;
  std::uint64_t sync_nanos = 0;
};

class writer {
 public:
  // Everything before `end` is durable.
  writer(io::file_system& fs, io::random_source& random, const io::clock& clock, const options& options, log_end end);

  // One durable group write with all items, in a new file when the current one is full. After an error: no further
  // call.
  result<written> write(const std::vector<append_item>& items);

  // Makes the next file, durable with its name, its header and its state group.
  status begin_file();

  const log_end& end() const { return end_; }

 private:
  format::group_header next_header(format::group_kind kind, std::uint64_t position) const;

  io::file_system& fs_;
  io::random_source& random_;
  const io::clock& clock_;
  std::string folder_;
  std::uint64_t file_bytes_;
  log_end end_;
  byte_buffer buffer_;
};

}  // namespace braidmq::wal
