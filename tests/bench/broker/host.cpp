#include "bench/broker/host.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace braidmq::bench {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

// The mount with the longest path above the folder.
std::string file_system_of(const std::string& folder) {
  std::error_code code;
  const std::string path = std::filesystem::weakly_canonical(folder, code).string();
  std::ifstream mounts("/proc/self/mounts");
  std::string line;
  std::string found = "unknown";
  std::size_t longest = 0;
  while (std::getline(mounts, line)) {
    std::istringstream words(line);
    std::string device;
    std::string at;
    std::string type;
    words >> device >> at >> type;
    const bool is_above = path == at || path.starts_with(at.ends_with('/') ? at : at + "/");
    if (!is_above || at.size() < longest) continue;
    longest = at.size();
    found = fmt::format("{} on {}", type, device);
  }
  return found;
}

}  // namespace

host describe_host(const std::string& folder) {
  utsname system{};
  ::uname(&system);
  return {fmt::format("{}, {} of them", cpu_model(), ::sysconf(_SC_NPROCESSORS_ONLN)),
          fmt::format("{} {}", system.sysname, system.release), file_system_of(folder)};
}

std::array<double, 3> load_average() {
  std::array<double, 3> loads{};
  ::getloadavg(loads.data(), static_cast<int>(loads.size()));
  return loads;
}

}  // namespace braidmq::bench
