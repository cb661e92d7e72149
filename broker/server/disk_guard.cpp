#include "server/disk_guard.hpp"

#include <algorithm>
#include <utility>

namespace braidmq::server {
namespace {

constexpr std::uint64_t mib = 1U << 20U;
constexpr std::uint64_t least_reserve = 256 * mib;
constexpr std::uint64_t largest_reserve = 1024 * mib;

// A volume that is far from full is looked at rarely enough to cost nothing, and a disk of 2 GiB/s cannot fill what is
// between the two in one interval.
constexpr io::duration calm_interval = std::chrono::seconds(1);
constexpr io::duration alert_interval = std::chrono::milliseconds(100);
constexpr std::uint64_t calm_reserves = 8;

}  // namespace

disk_guard::disk_guard(disk_guard_options options, disk_guard_environment environment,
                       std::function<void(bool, const std::string&)> changed)
    : options_(std::move(options)), environment_(environment), changed_(std::move(changed)) {
  for (const std::string& folder : options_.folders) stats_.volumes.push_back({.folder = folder});
}

disk_guard::~disk_guard() {
  stop();
}

void disk_guard::start() {
  look();
}

void disk_guard::stop() {
  alive_.reset();
  environment_.timers.cancel(timer_);
}

std::uint64_t disk_guard::reserve_of(const io::disk_space& volume) const {
  if (options_.reserve_bytes > 0) return options_.reserve_bytes;
  return std::max(options_.least_bytes, std::clamp(volume.size_bytes / 20, least_reserve, largest_reserve));
}

void disk_guard::look() {
  environment_.disk.post([this, alive = std::weak_ptr<int>(alive_), &fs = environment_.fs, &owner = environment_.owner,
                          folders = options_.folders] {
    std::vector<result<io::disk_space>> seen;
    for (const std::string& folder : folders) seen.push_back(fs.space(folder));
    owner.post([this, alive, seen = std::move(seen)] {
      if (!alive.expired()) judge(seen);
    });
  });
}

void disk_guard::judge(const std::vector<result<io::disk_space>>& seen) {
  bool is_calm = true;
  std::string why;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    watched_volume& volume = stats_.volumes[i];
    if (seen[i]) {
      volume.known = true;
      volume.free_bytes = seen[i]->free_bytes;
      volume.reserve_bytes = reserve_of(*seen[i]);
    } else {
      ++stats_.failures;
      if (!volume.known) continue;
    }
    const std::uint64_t enough = volume.reserve_bytes + (volume.is_short ? volume.reserve_bytes / 4 : 0);
    volume.is_short = volume.free_bytes < enough;
    is_calm = is_calm && volume.free_bytes / calm_reserves >= volume.reserve_bytes;
    if (volume.is_short && why.empty()) {
      why = fmt::format("{} has {} MiB free, {} MiB are kept for what must go on", volume.folder,
                        volume.free_bytes / mib, enough / mib);
    }
  }
  const bool is_full = !why.empty();
  const std::weak_ptr<int> alive = alive_;
  if (std::exchange(stats_.is_full, is_full) != is_full) {
    const auto tell = changed_;  // whoever hears it may destroy this object
    tell(is_full, is_full ? why : std::string("there is space on all volumes again"));
  }
  if (alive.expired()) return;
  timer_ = environment_.timers.schedule(is_calm ? calm_interval : alert_interval, [this] { look(); });
}

}  // namespace braidmq::server
