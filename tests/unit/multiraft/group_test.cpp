#include "multiraft/group.hpp"

#include <gmock/gmock.h>

#include "fixture.hpp"

namespace braidmq::multiraft::test {
namespace {

using testing::ElementsAre;

bytes command(std::string_view text) {
  return bytes::copy_of(text);
}

TEST(Group, ASingleVoterLeadsAndAppliesWhatIsDurable) {
  sim::sim_file_system fs;
  process p(fs);
  recorder machine;
  auto g = p.make(machine);
  EXPECT_EQ(g->propose(command("early")).error().code, errc::not_leader);
  g->start();
  EXPECT_EQ(g->propose(command("early")).error().code, errc::not_leader) << "its vote is not yet durable";
  p.loop.run_until_idle();
  EXPECT_TRUE(g->node().serves());
  EXPECT_THAT(machine.seen, ElementsAre("noop 1"));
  EXPECT_EQ(g->propose(command("a")).value(), raft::index(2));
  EXPECT_EQ(g->propose(command("b")).value(), raft::index(3));
  EXPECT_THAT(machine.seen, ElementsAre("noop 1")) << "nothing is applied inside a call";
  p.loop.run_until_idle();
  EXPECT_THAT(machine.seen, ElementsAre("noop 1", "a", "b"));
  EXPECT_EQ(machine.shown, raft::index(3));
  EXPECT_EQ(g->unapplied_bytes(), 0U);
}

TEST(Group, NothingIsAppliedBeforeItIsDurable) {
  sim::sim_file_system fs;
  process p(fs);
  recorder machine;
  auto g = p.started(machine);
  ASSERT_TRUE(g->propose(command("a")));
  while (p.loop.run_one(p.owner)) {
  }
  EXPECT_THAT(machine.seen, ElementsAre("noop 1"));
  const auto syncs = fs.operations().data_syncs;
  ASSERT_TRUE(p.loop.run_one(p.disk));
  EXPECT_EQ(fs.operations().data_syncs, syncs + 1);
  while (p.loop.run_one(p.owner)) {
  }
  EXPECT_THAT(machine.seen, ElementsAre("noop 1", "a"));
}

TEST(Group, ARestartAppliesTheWholeLogAgainInOrder) {
  sim::sim_file_system fs;
  std::vector<std::string> first_life;
  {
    process p(fs, std::nullopt, 20'000);
    recorder machine;
    auto g = p.started(machine);
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(g->propose(command(fmt::format("command {}", i))));
      if (i % 4 == 0) p.loop.run_until_idle();
    }
    p.loop.run_until_idle();
    first_life = machine.seen;
    ASSERT_EQ(first_life.size(), 51U);
  }
  fs.kill_process();
  process p(fs, std::nullopt, 20'000);
  recorder machine;
  auto options = single();
  options.read_chunk_bytes = 100;
  auto g = p.make(machine, options);
  g->start();
  // A proposal that comes while the old log is still being applied takes its place behind it.
  while (g->node().current_role() != raft::role::leader) ASSERT_TRUE(p.loop.run_one());
  EXPECT_FALSE(g->node().serves());
  ASSERT_TRUE(g->propose(command("new")));
  p.loop.run_until_idle();
  first_life.insert(first_life.end(), {"noop 2", "new"});
  EXPECT_EQ(machine.seen, first_life);
  EXPECT_TRUE(g->node().serves());
}

TEST(Group, TheNextChunkOfTheOldLogIsReadWhileOneIsApplied) {
  sim::sim_file_system fs;
  constexpr int commands = 40;
  {
    process p(fs);
    recorder machine;
    auto g = p.started(machine);
    for (int i = 0; i < commands; ++i) {
      ASSERT_TRUE(g->propose(command(std::string(1000, 'x'))));
      p.loop.run_until_idle();
    }
  }
  process p(fs);
  recorder machine;
  auto options = single();
  options.read_chunk_bytes = 4000;
  options.slice_entries = 1;
  auto g = p.make(machine, options);
  g->start();
  std::size_t most_at_once = 0;  // while the disk stands still
  int applied_during_reads = 0;
  while (!g->node().serves()) {
    const std::size_t before = machine.seen.size();
    while (true) {
      const bool is_reading = p.disk.queued() > 0;
      const std::size_t seen = machine.seen.size();
      if (!p.loop.run_one(p.owner)) break;
      if (is_reading && machine.seen.size() > seen) ++applied_during_reads;
    }
    most_at_once = std::max(most_at_once, machine.seen.size() - before);
    if (!p.loop.run_one(p.disk)) break;
  }
  p.loop.run_until_idle();
  EXPECT_TRUE(g->node().serves());
  EXPECT_EQ(machine.seen.size(), commands + 2U);
  EXPECT_GT(applied_during_reads, 20);
  EXPECT_LE(most_at_once, 8U) << "two chunks are in memory at most";
}

TEST(Group, ALongRunIsAppliedInSlicesThatLetOthersIn) {
  sim::sim_file_system fs;
  {
    process p(fs);
    recorder machine;
    auto g = p.started(machine);
    for (int i = 0; i < 99; ++i) ASSERT_TRUE(g->propose(command("c")));
    p.loop.run_until_idle();
  }
  process p(fs);
  recorder machine;
  auto options = single();
  options.slice_entries = 10;
  auto g = p.make(machine, options);
  g->start();
  std::size_t most_between_turns = 0;
  std::size_t seen_at_last_turn = 0;
  std::function<void()> other_work = [&] {
    most_between_turns = std::max(most_between_turns, machine.seen.size() - seen_at_last_turn);
    seen_at_last_turn = machine.seen.size();
    if (machine.seen.size() < 101) p.owner.post([&] { other_work(); });
  };
  p.owner.post([&] { other_work(); });
  p.loop.run_until_idle();
  EXPECT_EQ(machine.seen.size(), 101U);
  EXPECT_EQ(most_between_turns, 10U);
  EXPECT_GE(machine.runs, 10);
}

TEST(Group, ASliceIsBoundedInBytesToo) {
  sim::sim_file_system fs;
  process p(fs);
  recorder machine;
  auto options = single();
  options.slice_bytes = 1000;
  auto g = p.started(machine, options);
  machine.runs = 0;
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(g->propose(command(std::string(600, 'x'))));
  p.loop.run_until_idle();
  EXPECT_GE(machine.runs, 4);
}

TEST(Group, StopsBeforeTheNextEntryUntilTheMachineCanGoOn) {
  sim::sim_file_system fs;
  process p(fs);
  recorder machine;
  auto g = p.started(machine);
  machine.on_apply = [&](const raft::entry&) { machine.open = false; };
  for (const char* text : {"a", "b", "c"}) ASSERT_TRUE(g->propose(command(text)));
  p.loop.run_until_idle();
  EXPECT_THAT(machine.seen, ElementsAre("noop 1", "a"));
  EXPECT_EQ(machine.shown, raft::index(2)) << "what was applied is shown";
  p.timers.advance(std::chrono::seconds(1));
  p.loop.run_until_idle();
  EXPECT_EQ(machine.seen.size(), 2U);
  machine.open = true;
  g->resume();
  g->resume();
  p.loop.run_until_idle();
  EXPECT_THAT(machine.seen, ElementsAre("noop 1", "a", "b"));
  machine.on_apply = nullptr;
  machine.open = true;
  g->resume();
  p.loop.run_until_idle();
  EXPECT_THAT(machine.seen, ElementsAre("noop 1", "a", "b", "c"));
}

TEST(Group, ProposalsBeyondTheBoundAreRefusedUntilSomeAreApplied) {
  sim::sim_file_system fs;
  process p(fs);
  recorder machine;
  auto options = single();
  options.max_unapplied_bytes = 1000;
  auto g = p.started(machine, options);
  ASSERT_TRUE(g->propose(command(std::string(400, 'a'))));
  ASSERT_TRUE(g->propose(command(std::string(400, 'b'))));
  EXPECT_EQ(g->propose(command(std::string(400, 'c'))).error().code, errc::busy);
  EXPECT_GE(g->unapplied_bytes(), 800U);
  p.loop.run_until_idle();
  EXPECT_EQ(g->unapplied_bytes(), 0U);
  EXPECT_TRUE(g->propose(command(std::string(5000, 'd')))) << "alone, any size goes";
  EXPECT_EQ(g->propose(command("e")).error().code, errc::busy);
  // Empty commands are not free.
  p.loop.run_until_idle();
  int taken = 0;
  while (g->propose({})) ASSERT_LT(++taken, 1000);
  EXPECT_GT(taken, 1);
}

TEST(Group, AFailedSyncIsToldOnceAndNothingIsAppliedAfterIt) {
  sim::sim_file_system fs;
  process p(fs);
  recorder machine;
  auto g = p.started(machine);
  fs.fail_next(sim::operation::sync_data, "*", io::errc::device_error);
  for (const char* text : {"a", "b", "c"}) ASSERT_TRUE(g->propose(command(text)));
  p.loop.run_until_idle();
  EXPECT_EQ(p.fatal_calls, 1);
  EXPECT_EQ(p.fatal->code, io::errc::device_error);
  EXPECT_THAT(machine.seen, ElementsAre("noop 1"));
  EXPECT_EQ(g->propose(command("d")).error().code, errc::stopped);
  p.timers.advance(std::chrono::seconds(5));
  p.loop.run_until_idle();
  EXPECT_EQ(p.fatal_calls, 1);
  EXPECT_EQ(p.timers.waiting(), 0U);
}

TEST(Group, DamageMetWhileApplyingIsFatal) {
  sim::sim_file_system fs;
  {
    process p(fs);
    recorder machine;
    auto g = p.started(machine);
    ASSERT_TRUE(g->propose(command("a")));
    p.loop.run_until_idle();
  }
  process p(fs);
  recorder machine;
  auto g = p.make(machine);
  fs.flip_bits("/wal/00000000000000000001.wal", 4 * 4096 + 100, 1);
  g->start();
  p.loop.run_until_idle();
  EXPECT_EQ(p.fatal_calls, 1);
  EXPECT_EQ(p.fatal->code, wal::errc::corrupt);
  EXPECT_FALSE(g->node().serves());
}

TEST(Group, AfterAStopNothingIsCalled) {
  sim::sim_file_system fs;
  process p(fs);
  recorder machine;
  auto g = p.started(machine);
  ASSERT_TRUE(g->propose(command("a")));
  g->stop();
  g->stop();
  p.loop.run_until_idle();
  p.timers.advance(std::chrono::seconds(1));
  p.loop.run_until_idle();
  EXPECT_THAT(machine.seen, ElementsAre("noop 1"));
  EXPECT_EQ(g->propose(command("b")).error().code, errc::stopped);
  EXPECT_EQ(p.fatal_calls, 0);
}

TEST(Group, MayBeDestroyedWhileWorkIsUnderWay) {
  sim::sim_file_system fs;
  for (int steps = 0; steps < 8; ++steps) {
    process p(fs);
    recorder machine;
    auto g = p.make(machine);
    g->start();
    for (int i = 0; i < steps; ++i) (void)p.loop.run_one();
    g.reset();
    const auto seen = machine.seen.size();
    p.loop.run_until_idle();
    EXPECT_EQ(machine.seen.size(), seen);
    p.wal.reset();  // has a timer of its own
    EXPECT_EQ(p.timers.waiting(), 0U);
  }
}

TEST(Group, TheMachineMayProposeAndStopWhileItApplies) {
  sim::sim_file_system fs;
  process p(fs);
  recorder machine;
  auto g = p.started(machine);
  machine.on_apply = [&](const raft::entry& entry) {
    if (as_string_view(entry.payload) == "a") {
      EXPECT_TRUE(g->propose(command("from apply")));
    }
    if (as_string_view(entry.payload) == "from apply") g->stop();
  };
  ASSERT_TRUE(g->propose(command("a")));
  ASSERT_TRUE(g->propose(command("b")));
  p.loop.run_until_idle();
  ASSERT_THAT(machine.seen, ElementsAre("noop 1", "a", "b", "from apply"));
}

TEST(Group, GoesOnFromACheckpoint) {
  sim::sim_file_system fs;
  {
    process p(fs);
    recorder machine;
    auto g = p.started(machine);
    for (const char* text : {"a", "b", "c"}) ASSERT_TRUE(g->propose(command(text)));
    p.loop.run_until_idle();
  }
  process p(fs);
  recorder machine;
  machine.last = raft::index(3);
  auto options = single();
  options.applied = raft::index(3);
  auto g = p.started(machine, options);
  EXPECT_THAT(machine.seen, ElementsAre("c", "noop 2"));
  options.applied = raft::index(99);
  recorder ahead;
  EXPECT_EQ(p.make(ahead, options), nullptr);
  EXPECT_EQ(p.refused->code, raft::errc::contradictory_state);
}

TEST(Group, AWalThatLacksEntriesIsRefused) {
  sim::sim_file_system fs;
  {
    process p(fs, std::nullopt, 1);
    recorder machine;
    auto g = p.started(machine);
    ASSERT_TRUE(g->propose(command("a")));
    p.loop.run_until_idle();
  }
  ASSERT_TRUE(fs.remove("/wal/00000000000000000001.wal"));
  ASSERT_TRUE(fs.remove("/wal/00000000000000000002.wal"));
  process p(fs);
  ASSERT_TRUE(p.wal);
  recorder machine;
  EXPECT_EQ(p.make(machine), nullptr);
  EXPECT_EQ(p.refused->code, wal::errc::not_retained);
}

TEST(Group, OtherMembershipsAreRefused) {
  sim::sim_file_system fs;
  process p(fs);
  recorder machine;
  auto options = single();
  options.raft.voters.push_back({2, {}});
  EXPECT_EQ(p.make(machine, options), nullptr);
  EXPECT_EQ(p.refused->code, raft::errc::unsupported_membership);
}

TEST(Group, ASingleVoterReadsAtOnceAndHandsOverToNobody) {
  sim::sim_file_system fs;
  process p(fs);
  recorder machine;
  auto g = p.make(machine);
  std::vector<std::string> heard;
  const auto read = [&] {
    g->read_index(
        [&](result<raft::index> got) { heard.push_back(got ? fmt::format("{}", *got) : got.error().to_string()); });
    EXPECT_TRUE(heard.empty()) << "never inside the call";
    p.loop.run_until_idle();
    return std::exchange(heard, {});
  };
  EXPECT_THAT(read(), ::testing::ElementsAre(::testing::HasSubstr("does not lead")));
  g->start();
  p.loop.run_until_idle();
  EXPECT_GT(machine.offices, 0);
  EXPECT_THAT(read(), ::testing::ElementsAre("1"));
  ASSERT_TRUE(g->propose(command("a")));
  p.loop.run_until_idle();
  EXPECT_THAT(read(), ::testing::ElementsAre("2"));
  EXPECT_FALSE(g->transfer());
  EXPECT_TRUE(g->propose(command("b"))) << "a transfer that was refused stops nothing";
  g->stop();
  EXPECT_THAT(read(), ::testing::ElementsAre(::testing::HasSubstr("stopped")));
}

TEST(Group, TwoGroupsShareTheirSyncs) {
  sim::sim_file_system fs;
  process p(fs);
  recorder one;
  recorder two;
  auto a = p.started(one, single(1));
  auto b = p.started(two, single(2));
  const auto syncs = fs.operations().data_syncs;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(a->propose(command("a")));
    ASSERT_TRUE(b->propose(command("b")));
  }
  p.loop.run_until_idle();
  EXPECT_EQ(fs.operations().data_syncs - syncs, 2U);
  EXPECT_EQ(one.seen.size(), 21U);
  EXPECT_EQ(two.seen.size(), 21U);
}

}  // namespace
}  // namespace braidmq::multiraft::test
