// The end of the log where group writes are made: the current file, what the next group write must say, and the state
// of every Raft group for the next file's first group. Blocking; one caller at a time, on the disk executor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

// A file of full size under a spare name. What is in it is overwritten, or never read.
struct spare_file {
  std::string name;
  std::shared_ptr<io::file> file;
};

// What a group write has come to.
struct written {
  group_place place;
  std::shared_ptr<io::file> new_file;  // set when a file was begun for it
  std::optional<spare_file> unused;    // the spare that was offered, when it was not needed
  bool recycled = false;               // it was
  std::uint64_t groups = 0;            // a state group counts, too
  std::uint64_t bytes = 0;
  std::uint64_t syncs = 0;
  std::uint64_t sync_nanos = 0;
};

class writer {
 public:
  // Everything before `end` is durable.
  writer(io::file_system& fs, io::random_source& random, const io::clock& clock, const options& options, log_end end);

  // One durable group write with all items. It begins a new file when it does not fit into the current one: `spare`,
  // when there is one, else one that grows. After an error: no further call.
  result<written> write(const std::vector<append_item>& items, std::optional<spare_file> spare);

  // Says durably of all before that they were durable: by a group write without items, or by a new file when there is
  // no room for one.
  result<written> mark(std::optional<spare_file> spare);

  // Makes the next file, durable with its name, its header and its state group.
  status begin_file(const std::optional<spare_file>& spare);

  const log_end& end() const { return end_; }

 private:
  bool has_room(std::uint64_t size_bytes) const;
  format::group_header next_header(format::group_kind kind, std::uint64_t position) const;
  status begin(std::optional<spare_file>& spare, written& done);
  status write_group(format::group_kind kind, written& done);

  io::file_system& fs_;
  io::random_source& random_;
  const io::clock& clock_;
  std::string folder_;
  std::uint64_t file_bytes_;
  log_end end_;
  bool file_is_fresh_ = false;  // holds nothing but its state group
  byte_buffer buffer_;
};

}  // namespace braidmq::wal
