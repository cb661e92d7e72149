// A partition log over the simulated file system and executors that run when the test says so.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/batch_builder.hpp"
#include "storage/partition_log.hpp"
#include "support/manual_executor.hpp"
#include "support/sim_file_system.hpp"

namespace braidmq::storage {

inline constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

// A batch of records with these timestamps; the values are `value_bytes` long together.
inline stored_batch make_batch(std::int64_t base, const std::vector<std::int64_t>& timestamps_ms,
                               std::size_t value_bytes = 20, std::int32_t epoch = 0) {
  model::batch_builder builder(
      {.base_offset = model::offset(base), .partition_leader_epoch = model::leader_epoch(epoch)});
  std::int64_t highest = model::no_timestamp;
  for (const std::int64_t time : timestamps_ms) {
    const std::string value(value_bytes / timestamps_ms.size(), static_cast<char>('a' + base % 26));
    builder.add(fmt::format("{:06}", base), value, time);
    highest = std::max(highest, time);
  }
  auto built = builder.build();
  BRAID_CHECK(built.has_value());
  return {*built, model::offset(base), model::offset(base + static_cast<std::int64_t>(timestamps_ms.size()) - 1),
          highest};
}

inline stored_batch make_batch(std::int64_t base, int records, std::size_t value_bytes = 20, std::int32_t epoch = 0) {
  return make_batch(base, std::vector<std::int64_t>(static_cast<std::size_t>(records), 1000 + base), value_bytes,
                    epoch);
}

// A log of its own process: executors, file system (of somebody else), and answers taken synchronously.
class log_harness {
 public:
  explicit log_harness(io::file_system& fs, std::optional<std::uint64_t> seed = {})
      : loop(seed ? sim::manual_loop(*seed) : sim::manual_loop()), fs_(fs) {}

  status open(log_options options = {}, std::int64_t keep_below = 0) {
    auto opened =
        partition_log::open(fs_, disk, owner, "/data/topic-0", options, model::offset(keep_below), callbacks());
    if (!opened) return tl::unexpected<error>(opened.error());
    log = std::move(*opened);
    return {};
  }

  void create(log_options options = {}) {
    log = partition_log::create(fs_, disk, owner, "/data/topic-0", options, callbacks());
  }

  log_callbacks callbacks() {
    log_callbacks told;
    told.on_written = [this](std::size_t size_bytes) { written_bytes += size_bytes; };
    told.on_failure = [this](error e) { failures.push_back(std::move(e)); };
    return told;
  }

  // Runs the executors until the answer is there.
  template <class T>
  result<T> wait(const std::shared_ptr<std::optional<result<T>>>& answer) {
    while (!answer->has_value()) BRAID_CHECK(loop.run_one(), "no answer and nothing to run");
    return std::move(**answer);
  }
  template <class T>
  static auto slot() {
    return std::make_shared<std::optional<result<T>>>();
  }

  result<std::vector<bytes>> read(std::int64_t from, std::int64_t limit, std::size_t max_bytes,
                                  bool at_least_one = true) {
    const auto answer = slot<std::vector<bytes>>();
    log->read({model::offset(from), model::offset(limit), max_bytes, at_least_one},
              [answer](auto value) { answer->emplace(std::move(value)); });
    EXPECT_FALSE(answer->has_value()) << "never inside the call";
    return wait<std::vector<bytes>>(answer);
  }
  result<std::optional<timestamp_match>> find(std::int64_t timestamp_ms, std::int64_t limit) {
    const auto answer = slot<std::optional<timestamp_match>>();
    log->find_timestamp(timestamp_ms, model::offset(limit),
                        [answer](auto value) { answer->emplace(std::move(value)); });
    return wait<std::optional<timestamp_match>>(answer);
  }
  result<std::optional<timestamp_match>> find_max(std::int64_t limit) {
    const auto answer = slot<std::optional<timestamp_match>>();
    log->find_max_timestamp(model::offset(limit), [answer](auto value) { answer->emplace(std::move(value)); });
    return wait<std::optional<timestamp_match>>(answer);
  }
  status drain() {
    const auto answer = slot<void>();
    log->drain([answer](status value) { answer->emplace(std::move(value)); });
    return wait<void>(answer);
  }

  sim::manual_loop loop;
  sim::manual_executor disk{loop, sim::order::pool};
  sim::manual_executor owner{loop};
  std::vector<error> failures;
  std::size_t written_bytes = 0;
  std::unique_ptr<partition_log> log;

 private:
  io::file_system& fs_;
};

// Base offsets of batches, for comparisons that can be read.
inline std::vector<std::int64_t> bases(const std::vector<bytes>& batches) {
  std::vector<std::int64_t> found;
  for (const bytes& batch : batches) found.push_back(model::parse_batch_header(batch)->base_offset.value());
  return found;
}

}  // namespace braidmq::storage
