// The file of a checkpoint: frames of bytes under one chain of CRCs, whole or not there at all. What is in the frames
// is the state machine's affair. Format: docs/formats/checkpoint.md.
//
// Blocking; on a disk executor, or at start-up. Errors: those of the files; errc::checkpoint_damaged,
// errc::checkpoint_format when it is of a later version or of another group.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "io/file_system.hpp"
#include "raft/types.hpp"

namespace braidmq::multiraft {

// Where in which log the state stood.
struct checkpoint_id {
  raft::group_id group;
  raft::index index;
  raft::term term;  // of the entry at `index`

  friend bool operator==(const checkpoint_id&, const checkpoint_id&) = default;
};

class checkpoint_writer {
 public:
  // Writes beside `path`, which must have a folder part; what an interrupted run left there is overwritten.
  static result<checkpoint_writer> begin(io::file_system& fs, const std::string& path, const checkpoint_id& id);

  // `kind` is the caller's, not 0 and not 255; at most 2^30 bytes.
  status add(std::uint8_t kind, byte_view payload);

  // Durable, and in the place of the one before. Bytes of the file.
  result<std::uint64_t> commit();

  // Removes what a run that failed has left, as far as that can be done.
  static void discard(io::file_system& fs, const std::string& path);

 private:
  checkpoint_writer(io::file_system& fs, std::string path, std::unique_ptr<io::file> file)
      : fs_(&fs), path_(std::move(path)), file_(std::move(file)) {}

  void append_frame(std::uint8_t kind, byte_view payload);
  status flush();

  io::file_system* fs_;
  std::string path_;
  std::unique_ptr<io::file> file_;
  byte_buffer buffer_;
  std::uint64_t position_ = 0;
  std::uint64_t frames_ = 0;
  std::uint32_t crc_ = 0;
};

struct checkpoint_frame {
  std::uint8_t kind = 0;
  bytes payload;
};

class checkpoint_reader {
 public:
  // None when there is no checkpoint at `path`. One that is there stays there, also after a power cut.
  static result<std::optional<checkpoint_reader>> open(io::file_system& fs, const std::string& path,
                                                       raft::group_id group);

  const checkpoint_id& id() const { return id_; }
  const std::string& path() const { return path_; }

  // None once after the last one, when all of the file has been proven.
  result<std::optional<checkpoint_frame>> next();

  // For what the frames hold: a checkpoint that cannot be what was written.
  tl::unexpected<error> damaged(const std::string& what) const;
  // And one that only a later version can read.
  tl::unexpected<error> later(const std::string& what) const;

 private:
  checkpoint_reader(std::string path, std::unique_ptr<io::file> file, std::uint64_t size)
      : path_(std::move(path)), file_(std::move(file)), size_(size) {}

  result<checkpoint_frame> read_frame();
  status read_head(raft::group_id group);

  std::string path_;
  std::unique_ptr<io::file> file_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
  std::uint64_t frames_ = 0;
  std::uint32_t crc_ = 0;
  checkpoint_id id_;
};

}  // namespace braidmq::multiraft
