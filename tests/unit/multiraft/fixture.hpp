// A group over a real WAL on simulated disk, executors and timers, with a state machine that writes down what it sees.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "multiraft/group.hpp"
#include "support/manual_executor.hpp"
#include "support/manual_timers.hpp"
#include "support/sim_file_system.hpp"
#include "support/sim_random.hpp"

namespace braidmq::multiraft::test {

class seeded_random final : public io::random_source {
 public:
  explicit seeded_random(std::uint64_t seed) : rng_(seed) {}
  void fill(mutable_byte_view target) override {
    for (std::byte& byte : target) byte = static_cast<std::byte>(rng_());
  }

 private:
  sim::rng rng_;
};

class recorder final : public state_machine {
 public:
  void apply(const raft::entry& entry) override {
    EXPECT_TRUE(open) << "applied though it could not";
    EXPECT_EQ(entry.index, last + 1);
    last = entry.index;
    seen.push_back(entry.kind == raft::entry_kind::noop ? fmt::format("noop {}", entry.term)
                                                        : std::string(as_string_view(entry.payload)));
    if (on_apply) on_apply(entry);
  }
  void applied(raft::index index) override {
    EXPECT_EQ(index, last);
    shown = index;
    ++runs;
  }
  bool can_apply() const override { return open; }
  void office_changed() override { ++offices; }
  void snapshot_wanted(const raft::node_id& peer) override { snapshots.push_back(peer); }

  std::vector<std::string> seen;
  raft::index last;
  raft::index shown;
  int runs = 0;
  int offices = 0;                       // changes of role, leader or term
  std::vector<raft::node_id> snapshots;  // wanted, for whom
  bool open = true;
  std::function<void(const raft::entry&)> on_apply;
};

inline raft::node_id self() {
  raft::node_id id{1, {}};
  id.incarnation.octets.fill(0x42);
  return id;
}

inline group_options single(std::uint32_t id = 1) {
  group_options options;
  options.id = raft::group_id(id);
  options.raft = {.self = self(), .voters = {self()}};
  return options;
}

// A process: executors, timers and the WAL of one life.
class process {
 public:
  explicit process(sim::sim_file_system& fs, std::optional<std::uint64_t> seed = std::nullopt,
                   std::uint64_t wal_file_bytes = 64U << 20U)
      : loop(seed ? sim::manual_loop(*seed) : sim::manual_loop()), random(seed.value_or(1)) {
    if (fs.exists("/wal") == false) (void)fs.make_directories("/wal");
    auto opened =
        wal::log::open({fs, disk, disk, owner, timers, random, clock},
                       {.folder = "/wal", .file_bytes = wal_file_bytes, .preallocate = wal_file_bytes <= 1U << 20U});
    if (opened) wal = std::move(*opened);
  }

  std::unique_ptr<group> make(recorder& machine, group_options options = single()) {
    auto made = group::create(std::move(options), *wal, machine, owner, timers, [this](error e) {
      ++fatal_calls;
      fatal = std::move(e);
    });
    if (!made) {
      refused = made.error();
      return nullptr;
    }
    return std::move(*made);
  }
  std::unique_ptr<group> started(recorder& machine, group_options options = single()) {
    auto made = make(machine, std::move(options));
    made->start();
    loop.run_until_idle();
    return made;
  }

  sim::manual_loop loop;
  sim::manual_executor disk{loop};
  sim::manual_executor owner{loop};
  seeded_random random;
  sim::manual_clock clock;
  sim::manual_timers timers{clock, owner};
  std::unique_ptr<wal::log> wal;
  std::optional<error> refused;
  std::optional<error> fatal;
  int fatal_calls = 0;
};

}  // namespace braidmq::multiraft::test
