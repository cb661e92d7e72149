#include "app/memory_bounds.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace braidmq::app {
namespace {

// Two queues, a cache, requests and answers of an eighth each leave room for what is in flight and for the log's pages.
constexpr std::uint64_t queue_share = 8;
constexpr std::uint64_t fetch_sessions_share = 32;
constexpr std::size_t least_bytes = std::size_t{1} << 20U;
constexpr std::uint64_t mib = 1024 * 1024;

std::size_t share(std::size_t wanted, std::uint64_t memory_bytes, std::uint64_t part = queue_share) {
  if (memory_bytes == 0) return wanted;
  return std::min(wanted, std::max(least_bytes, static_cast<std::size_t>(memory_bytes / part)));
}

}  // namespace

memory_bounds bound_by_memory(memory_bounds wanted, const runtime::resources& available) {
  memory_bounds bounds = wanted;
  for (std::size_t* one : {&bounds.queue_max_bytes, &bounds.write_behind_max_bytes, &bounds.tail_cache_max_bytes,
                           &bounds.requests_max_bytes, &bounds.answers_max_bytes}) {
    *one = share(*one, available.memory_bytes);
  }
  bounds.fetch_sessions_max_bytes =
      share(wanted.fetch_sessions_max_bytes, available.memory_bytes, fetch_sessions_share);
  bounds.frame_max_bytes = std::min(wanted.frame_max_bytes, bounds.requests_max_bytes / 2);
  bounds.entry_max_bytes = std::min(wanted.entry_max_bytes, bounds.requests_max_bytes / 2);
  return bounds;
}

std::int64_t most_partitions(const runtime::resources& available) {
  constexpr std::uint64_t partition_bytes = 4096;  // about, while nothing is written to it
  if (available.memory_bytes == 0) return 1'000'000;
  return static_cast<std::int64_t>(
      std::max<std::uint64_t>(1000, available.memory_bytes / queue_share / partition_bytes));
}

std::string to_string(const runtime::resources& available) {
  const auto source = [](bool limited) { return limited ? "limit of the control group" : "of the machine"; };
  const std::string memory =
      available.memory_bytes == 0
          ? std::string("unknown memory")
          : fmt::format("{} MiB of memory ({})", available.memory_bytes / mib, source(available.memory_limited));
  return fmt::format("{:g} CPUs ({}), {}", available.cpus, source(available.cpus_limited), memory);
}

}  // namespace braidmq::app
