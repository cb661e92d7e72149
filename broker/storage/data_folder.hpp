// The two folders of a broker, `data.dir` and `wal.dir` (which may be two volumes), and the life that both carry: the
// incarnation, 128 random bits made when they are formatted. Whoever starts on a folder that is not ours, on folders of
// two lives, or on one of two where the other has been lost, is refused in words, and nothing has changed on disk.
//
// Blocking; at start-up. The locks are held until the object dies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/uuid.hpp"
#include "io/file_system.hpp"
#include "io/random.hpp"
#include "model/ids.hpp"

namespace braidmq::storage {

enum class folder_errc {
  foreign = 1,   // holds files that are not ours
  damaged,       // our identity file cannot be read
  newer_format,  // written by a later version
  volume_lost,   // one of the two folders has lost its content
  mixed,         // the two folders belong to two lives, or the folder to another broker or cluster
  not_formed,    // nothing is there, and nothing may be made
};
std::error_code make_error_code(folder_errc code);

struct data_folders_options {
  std::string data_dir;
  std::string wal_dir;  // may lie directly in data_dir
  model::broker_id broker;
  bool may_form = true;  // no: this broker has run before, so empty folders are lost ones
};

class data_folders {
 public:
  static constexpr std::int32_t format = 1;  // of everything below the two folders

  // Formats two empty (or missing) folders, goes on with a formatting that was interrupted, or opens what is there.
  static result<data_folders> open(io::file_system& fs, io::random_source& random, const data_folders_options& options);

  const uuid& incarnation() const { return incarnation_; }
  bool formatted_now() const { return formatted_now_; }

 private:
  data_folders() = default;

  uuid incarnation_;
  bool formatted_now_ = false;
  std::unique_ptr<io::folder_lock> data_lock_;
  std::unique_ptr<io::folder_lock> wal_lock_;
};

}  // namespace braidmq::storage

template <>
struct std::is_error_code_enum<braidmq::storage::folder_errc> : std::true_type {};
