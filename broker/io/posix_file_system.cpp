#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "io/file_system.hpp"
#include "io/posix_direct_io.hpp"

namespace braidmq::io {
namespace {

errc classify(int code) {
  switch (code) {
    case ENOENT:
    case ENOTDIR:
      return errc::not_found;
    case EEXIST:
      return errc::already_exists;
    case ENOSPC:
    case EDQUOT:
      return errc::no_space;
    case EACCES:
    case EPERM:
    case EROFS:
      return errc::permission_denied;
    case EWOULDBLOCK:
      return errc::busy;
    default:
      return errc::device_error;
  }
}

tl::unexpected<error> system_failure(const char* call, const std::string& path) {
  const int code = errno;
  return fail(classify(code), fmt::format("{} {} ({})", call, path, std::strerror(code)));
}

class descriptor {
 public:
  explicit descriptor(int fd) : fd_(fd) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

class posix_file final : public file {
 public:
  posix_file(int fd, std::string path, bool direct) : fd_(fd), path_(std::move(path)), direct_(direct) {}

  result<std::size_t> read_at(std::uint64_t position, mutable_byte_view target) const override {
    if (direct_) {
      const auto got = direct_read(fd_.get(), position, target);
      if (!got) return system_failure("read", path_);
      return *got;
    }
    std::size_t done = 0;
    while (done < target.size()) {
      const ssize_t got =
          ::pread(fd_.get(), target.data() + done, target.size() - done, static_cast<off_t>(position + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return system_failure("read", path_);
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  status write_at(std::uint64_t position, std::span<const byte_view> parts) override {
    if (direct_) {
      if (!direct_write(fd_.get(), position, parts)) return system_failure("write", path_);
      return {};
    }
    std::vector<iovec> vectors;
    vectors.reserve(parts.size());
    for (const byte_view part : parts) {
      if (!part.empty()) vectors.push_back({const_cast<std::byte*>(part.data()), part.size()});
    }
    auto rest = std::span(vectors);
    while (!rest.empty()) {
      const int count = static_cast<int>(std::min<std::size_t>(rest.size(), IOV_MAX));
      const ssize_t put = ::pwritev(fd_.get(), rest.data(), count, static_cast<off_t>(position));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return system_failure("write", path_);
      if (put == 0) return fail(errc::device_error, fmt::format("write {} made no progress", path_));
      position += static_cast<std::uint64_t>(put);
      auto left = static_cast<std::size_t>(put);
      while (left > 0) {
        iovec& first = rest.front();
        const std::size_t taken = std::min(left, first.iov_len);
        first.iov_base = static_cast<std::byte*>(first.iov_base) + taken;
        first.iov_len -= taken;
        left -= taken;
        if (first.iov_len == 0) rest = rest.subspan(1);
      }
    }
    return {};
  }

  status sync_data() override {
    if (::fdatasync(fd_.get()) != 0) return system_failure("fdatasync", path_);
    return {};
  }

  status discard_cache() override {
    // Says the error by its result. File systems without a device below (tmpfs) have nothing to forget.
    if (const int code = ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED); code != 0) {
      errno = code;
      return system_failure("posix_fadvise", path_);
    }
    return {};
  }

  status truncate(std::uint64_t size) override {
    if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) return system_failure("truncate", path_);
    return {};
  }

  result<std::uint64_t> size() const override {
    struct stat info{};
    if (::fstat(fd_.get(), &info) != 0) return system_failure("stat", path_);
    return static_cast<std::uint64_t>(info.st_size);
  }

 private:
  descriptor fd_;
  std::string path_;
  bool direct_;
};

class posix_folder_lock final : public folder_lock {
 public:
  explicit posix_folder_lock(int fd) : fd_(fd) {}

 private:
  descriptor fd_;
};

class posix_fs final : public file_system {
 public:
  result<std::unique_ptr<file>> open(const std::string& path, open_mode mode) override {
    const int fd = ::open(path.c_str(), flags_of(mode), 0640);
    if (fd < 0) return system_failure("open", path);
    return std::make_unique<posix_file>(fd, path, false);
  }

  result<std::unique_ptr<file>> open_direct(const std::string& path, open_mode mode) override {
    const int fd = ::open(path.c_str(), flags_of(mode) | O_DIRECT, 0640);
    if (fd >= 0) return std::make_unique<posix_file>(fd, path, true);
    if (errno != EINVAL) return system_failure("open", path);
    // The refusal may have come after the name was made.
    return open(path, mode == open_mode::create_new ? open_mode::create : mode);
  }

  result<bool> exists(const std::string& path) override {
    struct stat info{};
    if (::stat(path.c_str(), &info) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return system_failure("stat", path);
  }

  result<std::vector<std::string>> list(const std::string& folder) override {
    DIR* stream = ::opendir(folder.c_str());
    if (stream == nullptr) return system_failure("list", folder);
    std::vector<std::string> names;
    const dirent* entry = nullptr;
    while (errno = 0, (entry = ::readdir(stream)) != nullptr) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
    const int code = errno;
    ::closedir(stream);
    if (code != 0) {
      errno = code;
      return system_failure("list", folder);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  status make_directories(const std::string& folder) override {
    // Folders are made from the top, each synced before the next one. A run that was cut short by a crash therefore
    // leaves at most the deepest folder that is there without a sync of its parent: that one is made good here.
    std::string deepest_found;
    for (std::size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
      const std::string path = folder.substr(0, end);
      if (is_folder(path)) {
        deepest_found = path;
      } else {
        if (!deepest_found.empty()) BRAID_TRY_VOID(sync_found(deepest_found));
        deepest_found.clear();
        if (::mkdir(path.c_str(), 0750) != 0 && (errno != EEXIST || !is_folder(path))) {
          return system_failure("make folder", path);
        }
        BRAID_TRY_VOID(sync_directory(parent_of(path)));
      }
      if (end == std::string::npos) break;
    }
    return deepest_found.empty() ? status() : sync_found(deepest_found);
  }

  result<disk_space> space(const std::string& folder) override {
    struct statvfs volume = {};
    if (::statvfs(folder.c_str(), &volume) != 0) return system_failure("statvfs", folder);
    const std::uint64_t block = volume.f_frsize;
    return disk_space{volume.f_bavail * block, volume.f_blocks * block};
  }

  status remove(const std::string& path) override {
    if (::remove(path.c_str()) != 0) return system_failure("remove", path);
    return {};
  }

  status rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return system_failure("rename", from + " to " + to);
    return {};
  }

  status sync_directory(const std::string& folder) override {
    const descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() < 0) return system_failure("open folder", folder);
    if (::fsync(fd.get()) != 0) return system_failure("fsync of folder", folder);
    return {};
  }

  result<std::unique_ptr<folder_lock>> lock(const std::string& path) override {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0640);
    if (fd < 0) return system_failure("open", path);
    auto lock = std::make_unique<posix_folder_lock>(fd);
    if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return system_failure("lock", path);
      std::array<char, 32> holder{};
      const ssize_t got = ::pread(fd, holder.data(), holder.size() - 1, 0);
      const std::string pid(holder.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
      return fail(errc::busy, fmt::format("lock {} is held by process {}", path, pid.empty() ? "(unknown)" : pid));
    }
    const std::string pid = std::to_string(::getpid());
    if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) < 0) return system_failure("write", path);
    return std::unique_ptr<folder_lock>(std::move(lock));
  }

 private:
  static int flags_of(open_mode mode) {
    int flags = O_CLOEXEC;
    switch (mode) {
      case open_mode::read:
        flags |= O_RDONLY;
        break;
      case open_mode::read_write:
        flags |= O_RDWR;
        break;
      case open_mode::create:
        flags |= O_RDWR | O_CREAT;
        break;
      case open_mode::create_new:
        flags |= O_RDWR | O_CREAT | O_EXCL;
        break;
    }
    return flags;
  }

  static std::string parent_of(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  }

  // Keeps errno when the answer is no and mkdir's reason is to be told.
  static bool is_folder(const std::string& path) {
    const int code = errno;
    struct stat info{};
    const bool found = ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
    errno = code;
    return found;
  }

  // A folder above that may not be read was not made by us.
  status sync_found(const std::string& path) {
    auto synced = sync_directory(parent_of(path));
    if (!synced && synced.error().code == errc::permission_denied) return {};
    return synced;
  }
};

}  // namespace

file_system& posix_file_system() {
  static posix_fs fs;
  return fs;
}

status write_file_atomically(file_system& fs, const std::string& path, byte_view content) {
  const std::string temporary = path + ".tmp";
  {
    BRAID_TRY(target, fs.open(temporary, open_mode::create));
    BRAID_TRY_VOID(target->truncate(0));
    BRAID_TRY_VOID(target->write_at(0, content));
    BRAID_TRY_VOID(target->sync_data());
  }
  BRAID_TRY_VOID(fs.rename(temporary, path));
  const std::size_t slash = path.rfind('/');
  BRAID_CHECK(slash != std::string::npos, "path without a folder: {}", path);
  return fs.sync_directory(slash == 0 ? "/" : path.substr(0, slash));
}

result<bytes> read_file(file_system& fs, const std::string& path, std::size_t limit) {
  BRAID_TRY(source, fs.open(path, open_mode::read));
  BRAID_TRY(size, source->size());
  if (size > limit) return fail(errc::device_error, fmt::format("{} has {} bytes, {} at most", path, size, limit));
  std::vector<std::byte> content(size);
  BRAID_TRY(got, source->read_at(0, content));
  content.resize(got);
  return bytes::take(std::move(content));
}

}  // namespace braidmq::io
