// Passes every call on to a simulated file system and mixes it into the event hash. Also the place of planted bugs of
// the file layer.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "io/file_system.hpp"
#include "world/trace.hpp"

namespace braidmq::sim {

class traced_file_system final : public io::file_system {
 public:
  traced_file_system(io::file_system& target, trace& events) : target_(target), events_(events) {}

  result<std::unique_ptr<io::file>> open(const std::string& path, io::open_mode mode) override;
  result<std::unique_ptr<io::file>> open_direct(const std::string& path, io::open_mode mode) override;
  result<bool> exists(const std::string& path) override { return target_.exists(path); }
  result<io::disk_space> space(const std::string& folder) override { return target_.space(folder); }
  result<std::vector<std::string>> list(const std::string& folder) override { return target_.list(folder); }
  status make_directories(const std::string& folder) override;
  status remove(const std::string& path) override;
  status rename(const std::string& from, const std::string& to) override;
  status sync_directory(const std::string& folder) override;
  result<std::unique_ptr<io::folder_lock>> lock(const std::string& path) override { return target_.lock(path); }

  // Planted bug: sync_directory of this folder and of those below reports success and does nothing.
  void set_ignore_directory_sync(std::string folder) { ignore_directory_sync_ = std::move(folder); }
  // Planted bug: sync_data of files below this folder reports success and does nothing.
  void set_ignore_sync(std::string folder) { ignore_sync_ = std::move(folder); }
  // Planted bug: a checkpoint of a braid claims the entry after the one that it holds.
  void set_checkpoint_ahead() { checkpoint_ahead_ = true; }

 private:
  void note(std::uint64_t kind, const std::string& path);
  std::unique_ptr<io::file> traced(std::unique_ptr<io::file> file, const std::string& path);

  io::file_system& target_;
  trace& events_;
  std::string ignore_directory_sync_;
  std::string ignore_sync_;
  bool checkpoint_ahead_ = false;
};

}  // namespace braidmq::sim
