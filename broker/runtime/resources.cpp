#include "runtime/resources.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <sched.h>

namespace braidmq::runtime {
namespace {

// v1 says "no limit" by a huge number of whole pages.
constexpr std::uint64_t no_limit_from_bytes = 1ULL << 60U;

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) return std::nullopt;
  return line;
}

template <class Int>
std::optional<Int> parse_integer(std::string_view text) {
  Int value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class Int>
std::optional<Int> read_integer(const std::string& path) {
  const auto line = first_line(path);
  return line ? parse_integer<Int>(*line) : std::nullopt;
}

// "/a/b" -> "/a/b", "/a", "": the group and all above it. Without a namespace of its own a container sees its group's
// full path here but only the inside of it under /sys/fs/cgroup; the last, empty one finds that.
std::vector<std::string> with_parents(std::string group) {
  std::vector<std::string> all;
  while (!group.empty() && group != "/") {
    all.push_back(group);
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
  all.emplace_back();
  return all;
}

struct limits {
  std::optional<double> cpus;
  std::optional<std::uint64_t> memory_bytes;

  void lower_cpus(double value) {
    if (value > 0) cpus = std::min(cpus.value_or(value), value);
  }
  void lower_memory(std::uint64_t value) {
    if (value > 0 && value < no_limit_from_bytes) memory_bytes = std::min(memory_bytes.value_or(value), value);
  }
};

void read_v2(const std::string& mount, const std::string& group, limits& found) {
  for (const auto& level : with_parents(group)) {
    if (const auto line = first_line(mount + level + "/cpu.max")) {
      std::istringstream words(*line);
      std::string quota;
      double period = 0;
      words >> quota >> period;  // "max 100000" or "150000 100000"
      const auto quota_us = parse_integer<std::uint64_t>(quota);
      if (quota_us && period > 0) found.lower_cpus(static_cast<double>(*quota_us) / period);
    }
    if (const auto bytes = read_integer<std::uint64_t>(mount + level + "/memory.max")) found.lower_memory(*bytes);
  }
}

void read_v1(const std::string& mount, const std::string& controllers, const std::string& group, limits& found) {
  std::istringstream names("," + controllers + ",");
  const bool has_cpu = names.str().find(",cpu,") != std::string::npos;
  const bool has_memory = names.str().find(",memory,") != std::string::npos;
  for (const auto& level : with_parents(group)) {
    if (has_cpu) {
      for (const auto* folder : {"/cpu", "/cpu,cpuacct"}) {
        const auto quota_us = read_integer<std::int64_t>(mount + folder + level + "/cpu.cfs_quota_us");
        const auto period_us = read_integer<std::int64_t>(mount + folder + level + "/cpu.cfs_period_us");
        if (quota_us && period_us && *quota_us > 0 && *period_us > 0) {
          found.lower_cpus(static_cast<double>(*quota_us) / static_cast<double>(*period_us));
        }
      }
    }
    if (has_memory) {
      const auto bytes = read_integer<std::uint64_t>(mount + "/memory" + level + "/memory.limit_in_bytes");
      if (bytes) found.lower_memory(*bytes);
    }
  }
}

limits read_control_groups(const std::string& root) {
  limits found;
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {  // "hierarchy:controllers:path"
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    const auto group = line.substr(second + 1);
    if (controllers.empty()) {
      read_v2(mount, group, found);
      read_v2(mount + "/unified", group, found);
    } else {
      read_v1(mount, controllers, group, found);
    }
  }
  return found;
}

double machine_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0) return CPU_COUNT(&allowed);
  return std::max(1U, std::thread::hardware_concurrency());
}

std::uint64_t machine_memory(const std::string& root) {
  std::ifstream meminfo(root + "/proc/meminfo");
  std::string name;
  std::uint64_t kib = 0;
  std::string unit;
  while (meminfo >> name >> kib) {
    if (name == "MemTotal:") return kib * 1024;
    std::getline(meminfo, unit);
  }
  return 0;
}

}  // namespace

resources read_resources(const std::string& root) {
  const auto limited = read_control_groups(root);
  resources available{.cpus = machine_cpus(), .memory_bytes = machine_memory(root)};
  if (limited.cpus && *limited.cpus < available.cpus) {
    available.cpus = *limited.cpus;
    available.cpus_limited = true;
  }
  if (limited.memory_bytes && (available.memory_bytes == 0 || *limited.memory_bytes < available.memory_bytes)) {
    available.memory_bytes = *limited.memory_bytes;
    available.memory_limited = true;
  }
  return available;
}

unsigned shard_count(const resources& available, unsigned configured) {
  if (configured > 0) return configured;
  return std::max(1U, static_cast<unsigned>(available.cpus));
}

}  // namespace braidmq::runtime
