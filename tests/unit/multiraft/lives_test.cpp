// Many lives of one group, each ended by a power cut at an arbitrary operation, with executors that a seed interleaves.
// What was applied (and so could have been acknowledged) in one life is applied again, in its place, in all later ones.
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace braidmq::multiraft::test {
namespace {

TEST(GroupLives, WhatWasAppliedIsAppliedInEveryLaterLife) {
  std::size_t lives_cut_in_work = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    sim::sim_file_system fs(seed);
    ASSERT_TRUE(fs.make_directories("/wal"));
    sim::rng random(seed);
    std::vector<std::string> applied;
    raft::term term;
    int number = 0;
    for (int life = 0; life < 8; ++life) {
      fs.crash_after(1 + random.below(30));
      {
        process p(fs, random(), 30'000);
        if (!p.wal) {
          ASSERT_TRUE(fs.crashed());
        } else {
          recorder machine;
          auto options = single();
          options.slice_entries = 1 + random.below(5);
          options.read_chunk_bytes = 1 + random.below(3000);
          options.max_unapplied_bytes = 3000;
          auto g = p.make(machine, options);
          ASSERT_NE(g, nullptr) << p.refused->to_string();
          g->start();
          ASSERT_GT(g->node().current_term(), term);
          for (int step = 0; step < 400 && !fs.crashed(); ++step) {
            if (random.below(4) == 0)
              (void)g->propose(bytes::copy_of(fmt::format("{}{}", ++number, std::string(random.below(900), '-'))));
            if (random.below(20) == 0) p.timers.advance(std::chrono::milliseconds(50));
            if (random.below(10) == 0) machine.open = !machine.open;
            if (machine.open) g->resume();
            (void)p.loop.run_one();
            // The term that was voted in may be forgotten only with the vote.
            if (g->node().current_role() == raft::role::leader) term = g->node().current_term();
          }
          p.loop.run_until_idle();
          if (p.fatal_calls > 0) ++lives_cut_in_work;
          const std::size_t common = std::min(applied.size(), machine.seen.size());
          for (std::size_t i = 0; i < common; ++i) ASSERT_EQ(machine.seen[i], applied[i]) << "seed " << seed;
          if (machine.seen.size() > applied.size()) applied = machine.seen;
        }
      }
      sim::rng chance = random.split();
      fs.power_cut(chance);
    }
    // The last life is left in peace: all of it must be there.
    process p(fs, random(), 30'000);
    ASSERT_TRUE(p.wal);
    recorder machine;
    auto g = p.started(machine);
    ASSERT_TRUE(g->node().serves());
    ASSERT_GE(machine.seen.size(), applied.size()) << "seed " << seed;
    for (std::size_t i = 0; i < applied.size(); ++i) ASSERT_EQ(machine.seen[i], applied[i]) << "seed " << seed;
  }
  EXPECT_GT(lives_cut_in_work, 50U) << "the cuts must hit lives at work";
}

}  // namespace
}  // namespace braidmq::multiraft::test
