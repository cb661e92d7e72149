#include "app/descriptors.hpp"

#include <algorithm>

#include <sys/resource.h>

namespace braidmq::app {

std::uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur != limit.rlim_max) {
    rlimit higher = limit;
    higher.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &higher) == 0) limit = higher;
  }
  return limit.rlim_cur;
}

std::int64_t connections_within(std::uint64_t descriptors, std::size_t listeners, std::int64_t wanted) {
  const std::uint64_t most = descriptors / 2 / std::max<std::size_t>(1, listeners);
  return std::min(wanted, static_cast<std::int64_t>(std::clamp<std::uint64_t>(most, 1, INT32_MAX)));
}

}  // namespace braidmq::app
