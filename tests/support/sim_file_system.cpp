#include "support/sim_file_system.hpp"

#include <algorithm>
#include <mutex>
#include <optional>

#include <fnmatch.h>

#include "support/sim_file_state.hpp"

namespace braidmq::sim {

struct planned_failure {
  operation kind;
  std::string pattern;
  io::errc code;
  std::uint64_t skip;
  std::uint64_t times;
};

struct sim_file_system::state {
  explicit state(std::uint64_t seed) : chance(seed) {}

  std::mutex mutex;
  node_ptr root;
  rng chance;
  std::uint64_t generation = 0;  // of the process: handles of an older one are dead
  operation_counts counts;
  std::optional<std::uint64_t> operations_left;  // until the crash
  bool crashed = false;
  bool ignore_sync = false;
  std::uint64_t free_bytes = std::uint64_t{1} << 40U;
  std::vector<planned_failure> failures;
  std::vector<node_ptr> locked;
  std::uint64_t next_group = 0;

  // Lets a call pass, or says why it fails. Of an operation, `count` is where it is counted.
  status enter(operation kind, const std::string& path, std::uint64_t* count = nullptr) {
    if (crashed) return dead(path);
    if (count != nullptr) {
      ++*count;
      if (operations_left && --*operations_left == 0) {
        operations_left.reset();
        crashed = true;
        return dead(path);
      }
    }
    for (auto failure = failures.begin(); failure != failures.end(); ++failure) {
      if (failure->kind != kind || ::fnmatch(failure->pattern.c_str(), path.c_str(), 0) != 0) continue;
      if (failure->skip > 0) {
        --failure->skip;
        continue;
      }
      const io::errc code = failure->code;
      if (--failure->times == 0) failures.erase(failure);
      return fail(code, fmt::format("injected failure on {}", path));
    }
    return {};
  }

  static tl::unexpected<error> dead(const std::string& path) {
    return fail(io::errc::device_error, fmt::format("simulated power cut ({})", path));
  }

  struct place {
    node_ptr folder;
    std::string name;
    node_ptr target;  // null: no such name
  };

  // not_found when a folder on the way is missing. The root has no name.
  result<place> find(const std::string& path) const {
    place at{nullptr, "", root};
    for (std::size_t begin = 0; begin < path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      std::string name = path.substr(begin, end - begin);
      begin = end + 1;
      if (name.empty() || name == ".") continue;
      if (!at.target || !at.target->is_folder) return fail(io::errc::not_found, fmt::format("{} not found", path));
      at.folder = at.target;
      const auto found = at.folder->names.find(name);
      at.target = found == at.folder->names.end() ? nullptr : found->second;
      at.name = std::move(name);
    }
    return at;
  }

  result<node_ptr> find_folder(const std::string& path) const {
    BRAID_TRY(at, find(path));
    if (!at.target || !at.target->is_folder) return fail(io::errc::not_found, fmt::format("{} not found", path));
    return at.target;
  }

  result<node_ptr> make(const place& at, const std::string& path, bool folder) {
    BRAID_TRY_VOID(enter(operation::make_name, path, &counts.names));
    auto made = std::make_shared<node>();
    made->is_folder = folder;
    at.folder->set_name(next_group++, at.name, made);
    return made;
  }

  status sync_folder(node_ptr folder, const std::string& path) {
    if (auto entered = enter(operation::sync_directory, path, &counts.directory_syncs); !entered) {
      if (!crashed) folder->lose_changes();
      return entered;
    }
    folder->sync();
    return {};
  }
};

namespace {

using state = sim_file_system::state;

class sim_file final : public io::file {
 public:
  sim_file(std::shared_ptr<state> fs, node_ptr target, std::string path, bool writable, bool direct)
      : fs_(std::move(fs)),
        target_(std::move(target)),
        path_(std::move(path)),
        generation_(fs_->generation),
        writable_(writable),
        direct_(direct) {}

  result<std::size_t> read_at(std::uint64_t position, mutable_byte_view target) const override {
    const std::lock_guard lock(fs_->mutex);
    if (stale()) return state::dead(path_);
    BRAID_TRY_VOID(fs_->enter(operation::read, path_));
    const std::vector<std::byte>& content = target_->written;
    if (position >= content.size()) return std::size_t{0};
    const std::size_t length = std::min<std::uint64_t>(target.size(), content.size() - position);
    std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(position), length, target.begin());
    return length;
  }

  status write_at(std::uint64_t position, std::span<const byte_view> parts) override {
    const std::lock_guard lock(fs_->mutex);
    BRAID_TRY_VOID(usable_for_writing());
    std::vector<std::byte> data;
    for (const byte_view part : parts) data.insert(data.end(), part.begin(), part.end());
    if (data.empty()) return {};
    BRAID_CHECK(!direct_ || (position % io::direct_block_bytes == 0 && data.size() % io::direct_block_bytes == 0),
                "direct write of {} bytes at {}", data.size(), position);
    if (fs_->crashed) return state::dead(path_);
    if (auto entered = fs_->enter(operation::write, path_, &fs_->counts.writes); !entered) {
      target_->write(position, byte_view(data).first(fs_->chance.below(data.size())));
      return entered;
    }
    target_->write(position, data);
    return {};
  }

  status sync_data() override {
    const std::lock_guard lock(fs_->mutex);
    if (stale()) return state::dead(path_);
    if (auto entered = fs_->enter(operation::sync_data, path_, &fs_->counts.data_syncs); !entered) {
      if (!fs_->crashed) target_->lose_changes();
      return entered;
    }
    if (!fs_->ignore_sync) target_->sync();
    return {};
  }

  status discard_cache() override {
    const std::lock_guard lock(fs_->mutex);
    if (stale() || fs_->crashed) return state::dead(path_);
    target_->discard_cache();
    return {};
  }

  status truncate(std::uint64_t size) override {
    const std::lock_guard lock(fs_->mutex);
    BRAID_TRY_VOID(usable_for_writing());
    BRAID_TRY_VOID(fs_->enter(operation::truncate, path_, &fs_->counts.truncates));
    target_->truncate(size);
    return {};
  }

  result<std::uint64_t> size() const override {
    const std::lock_guard lock(fs_->mutex);
    if (stale() || fs_->crashed) return state::dead(path_);
    return std::uint64_t{target_->written.size()};
  }

 private:
  bool stale() const { return generation_ != fs_->generation; }

  status usable_for_writing() const {
    if (stale()) return state::dead(path_);
    if (!writable_) return fail(io::errc::device_error, fmt::format("{} is open for reading only", path_));
    return {};
  }

  std::shared_ptr<state> fs_;
  node_ptr target_;
  std::string path_;
  std::uint64_t generation_;
  bool writable_;
  bool direct_;
};

class sim_lock final : public io::folder_lock {
 public:
  sim_lock(std::shared_ptr<state> fs, node_ptr target)
      : fs_(std::move(fs)), target_(std::move(target)), generation_(fs_->generation) {}
  ~sim_lock() override {
    const std::lock_guard lock(fs_->mutex);
    if (generation_ == fs_->generation) std::erase(fs_->locked, target_);
  }

 private:
  std::shared_ptr<state> fs_;
  node_ptr target_;
  std::uint64_t generation_;
};

tl::unexpected<error> missing(const std::string& path) {
  return fail(io::errc::not_found, fmt::format("{} not found", path));
}

}  // namespace

sim_file_system::sim_file_system(std::uint64_t seed) : state_(std::make_shared<state>(seed)) {
  state_->root = std::make_shared<node>();
  state_->root->is_folder = true;
}
sim_file_system::sim_file_system(std::shared_ptr<state> state) : state_(std::move(state)) {}
sim_file_system::~sim_file_system() = default;

result<std::unique_ptr<io::file>> sim_file_system::open(const std::string& path, io::open_mode mode) {
  return open_file(path, mode, false);
}

result<std::unique_ptr<io::file>> sim_file_system::open_direct(const std::string& path, io::open_mode mode) {
  return open_file(path, mode, true);
}

result<std::unique_ptr<io::file>> sim_file_system::open_file(const std::string& path, io::open_mode mode, bool direct) {
  const std::lock_guard lock(state_->mutex);
  BRAID_TRY_VOID(state_->enter(operation::open, path));
  BRAID_TRY(at, state_->find(path));
  const bool may_make = mode == io::open_mode::create || mode == io::open_mode::create_new;
  node_ptr target = at.target;
  if (target && mode == io::open_mode::create_new) return fail(io::errc::already_exists, path + " exists");
  if (target && target->is_folder) return fail(io::errc::device_error, path + " is a folder");
  if (!target) {
    if (!may_make || path.ends_with('/')) return missing(path);
    BRAID_TRY(made, state_->make(at, path, false));
    target = made;
  }
  return std::make_unique<sim_file>(state_, std::move(target), path, mode != io::open_mode::read, direct);
}

result<bool> sim_file_system::exists(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  if (state_->crashed) return state::dead(path);
  const auto at = state_->find(path);
  return at.has_value() && at->target != nullptr;
}

result<io::disk_space> sim_file_system::space(const std::string& folder) {
  const std::lock_guard lock(state_->mutex);
  BRAID_TRY_VOID(state_->enter(operation::space, folder));
  return io::disk_space{state_->free_bytes, std::uint64_t{1} << 40U};
}

void sim_file_system::set_free_bytes(std::uint64_t free) {
  const std::lock_guard lock(state_->mutex);
  state_->free_bytes = free;
}

result<std::vector<std::string>> sim_file_system::list(const std::string& folder) {
  const std::lock_guard lock(state_->mutex);
  BRAID_TRY_VOID(state_->enter(operation::list, folder));
  BRAID_TRY(found, state_->find_folder(folder));
  std::vector<std::string> names;
  for (const auto& [name, target] : found->names) names.push_back(name);
  return names;
}

status sim_file_system::make_directories(const std::string& folder) {
  const std::lock_guard lock(state_->mutex);
  if (state_->crashed) return state::dead(folder);
  // A run that was cut short leaves at most the last folder that it made without a sync: see the POSIX twin.
  node_ptr unsure;  // parent of the deepest folder that was there
  std::string unsure_path;
  std::string parent_path = folder.starts_with('/') ? "/" : ".";
  for (std::size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const std::string path = folder.substr(0, end);
    BRAID_TRY(at, state_->find(path));
    if (at.target && !at.target->is_folder) return fail(io::errc::already_exists, path + " is a file");
    if (at.target) {
      unsure = at.folder;
      unsure_path = parent_path;
    } else {
      if (unsure) BRAID_TRY_VOID(state_->sync_folder(std::exchange(unsure, nullptr), unsure_path));
      BRAID_TRY_VOID(state_->make(at, path, true));
      BRAID_TRY_VOID(state_->sync_folder(at.folder, parent_path));
    }
    parent_path = path;
    if (end == std::string::npos) break;
  }
  return unsure ? state_->sync_folder(unsure, unsure_path) : status();
}

status sim_file_system::remove(const std::string& path) {
  const std::lock_guard lock(state_->mutex);
  if (state_->crashed) return state::dead(path);
  BRAID_TRY(at, state_->find(path));
  if (!at.target || !at.folder) return missing(path);
  if (at.target->is_folder && !at.target->names.empty()) return fail(io::errc::device_error, path + " is not empty");
  BRAID_TRY_VOID(state_->enter(operation::remove, path, &state_->counts.names));
  at.folder->set_name(state_->next_group++, at.name, nullptr);
  return {};
}

status sim_file_system::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(state_->mutex);
  if (state_->crashed) return state::dead(from);
  BRAID_TRY(source, state_->find(from));
  BRAID_TRY(target, state_->find(to));
  if (!source.target || !source.folder) return missing(from);
  if (!target.folder) return fail(io::errc::device_error, "cannot replace the root folder");
  if (target.target == source.target) return {};
  if (target.target && target.target->is_folder != source.target->is_folder) {
    return fail(source.target->is_folder ? io::errc::not_found : io::errc::device_error,
                fmt::format("rename {} to {}: file and folder", from, to));
  }
  if (target.target && target.target->is_folder && !target.target->names.empty()) {
    return fail(io::errc::device_error, to + " is not empty");
  }
  BRAID_TRY_VOID(state_->enter(operation::rename, from, &state_->counts.names));
  const std::uint64_t group = state_->next_group++;
  target.folder->set_name(group, target.name, source.target);
  source.folder->set_name(group, source.name, nullptr);
  return {};
}

status sim_file_system::sync_directory(const std::string& folder) {
  const std::lock_guard lock(state_->mutex);
  if (state_->crashed) return state::dead(folder);
  BRAID_TRY(found, state_->find_folder(folder));
  return state_->sync_folder(found, folder);
}

result<std::unique_ptr<io::folder_lock>> sim_file_system::lock(const std::string& path) {
  const std::lock_guard guard(state_->mutex);
  BRAID_TRY_VOID(state_->enter(operation::open, path));
  BRAID_TRY(at, state_->find(path));
  node_ptr target = at.target;
  if (!target) {
    BRAID_TRY(made, state_->make(at, path, false));
    target = made;
  }
  if (std::count(state_->locked.begin(), state_->locked.end(), target) > 0) {
    return fail(io::errc::busy, fmt::format("lock {} is held by process (simulated)", path));
  }
  state_->locked.push_back(target);
  return std::make_unique<sim_lock>(state_, std::move(target));
}

void sim_file_system::power_cut(rng& chance, const power_cut_options& options) {
  kill_process();
  const std::lock_guard lock(state_->mutex);
  cut_power(state_->root, chance, options);
}

void sim_file_system::kill_process() {
  const std::lock_guard lock(state_->mutex);
  ++state_->generation;
  state_->locked.clear();
  state_->operations_left.reset();
  state_->crashed = false;
}

void sim_file_system::crash_after(std::uint64_t n_operations) {
  const std::lock_guard lock(state_->mutex);
  if (n_operations == 0) {
    state_->operations_left.reset();
  } else {
    state_->operations_left = n_operations;
  }
}

bool sim_file_system::crashed() const {
  const std::lock_guard lock(state_->mutex);
  return state_->crashed;
}

operation_counts sim_file_system::operations() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counts;
}

void sim_file_system::fail_next(operation kind, std::string pattern, io::errc code, std::uint64_t skip,
                                std::uint64_t times) {
  BRAID_CHECK(times > 0);
  const std::lock_guard lock(state_->mutex);
  state_->failures.push_back({kind, std::move(pattern), code, skip, times});
}

void sim_file_system::clear_failures() {
  const std::lock_guard lock(state_->mutex);
  state_->failures.clear();
}

void sim_file_system::set_ignore_sync(bool on) {
  const std::lock_guard lock(state_->mutex);
  state_->ignore_sync = on;
}

void sim_file_system::flip_bits(const std::string& path, std::uint64_t position, std::uint8_t mask) {
  const std::lock_guard lock(state_->mutex);
  const auto at = state_->find(path);
  BRAID_CHECK(at && at->target && position < at->target->written.size(), "no byte {} in {}", position, path);
  const auto bits = static_cast<std::byte>(mask);
  node& target = *at->target;
  target.written[position] ^= bits;
  if (position < target.durable.size()) target.durable[position] ^= bits;
  for (file_change& change : target.changes) {
    if (position >= change.at && position - change.at < change.data.size()) change.data[position - change.at] ^= bits;
  }
}

std::unique_ptr<sim_file_system> sim_file_system::copy(std::uint64_t seed) const {
  const std::lock_guard lock(state_->mutex);
  auto twin = std::make_shared<state>(seed);
  twin->root = clone(state_->root);
  twin->next_group = state_->next_group;
  twin->ignore_sync = state_->ignore_sync;
  return std::unique_ptr<sim_file_system>(new sim_file_system(std::move(twin)));
}

}  // namespace braidmq::sim
