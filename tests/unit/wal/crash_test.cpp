// Power cuts: at every operation of a run, with every fate of what was not synced. What must hold afterwards: all that
// was acknowledged is there, what is there is a prefix of what was appended, and the log goes on.
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace braidmq::wal::test {
namespace {

// The appends of a run: two groups, sizes from nothing to several blocks, states, and now and then a replaced tail.
std::vector<append_item> script(std::uint64_t seed, std::size_t count) {
  sim::rng random(seed);
  std::vector<append_item> items;
  std::map<raft::group_id, std::uint64_t> last;
  std::uint64_t term = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const raft::group_id group = random.below(2) == 0 ? group_a : group_b;
    std::uint64_t& end = last[group];
    if (end > 2 && random.below(6) == 0) {
      end -= random.below(2) + 1;
      ++term;
    }
    append_item next{group, {}, {}};
    for (std::uint64_t entries = random.below(3); entries > 0; --entries) {
      ++end;
      next.entries.push_back(make_entry(term, end, std::string(random.below(3) * random.below(3000), 'a' + i % 26)));
    }
    if (next.entries.empty() || random.below(2) == 0) next.state = hard_state(term, i);
    items.push_back(std::move(next));
  }
  return items;
}

struct model {
  std::map<raft::group_id, std::vector<raft::entry>> entries;
  std::map<raft::group_id, raft::hard_state> states;

  void take(const append_item& item) {
    if (item.state) states[item.group] = *item.state;
    auto& log = entries[item.group];
    if (!item.entries.empty()) log.resize(item.entries.front().index.value() - 1);
    log.insert(log.end(), item.entries.begin(), item.entries.end());
  }
};

bool equals(process& p, const model& expected) {
  for (const raft::group_id group : {group_a, group_b}) {
    const recovered_group* found = p.recovered(group);
    const auto state = expected.states.find(group);
    if ((found != nullptr ? found->state : raft::hard_state{}) !=
        (state != expected.states.end() ? state->second : raft::hard_state{})) {
      return false;
    }
    const auto log = expected.entries.find(group);
    if (p.all(group) != (log != expected.entries.end() ? log->second : std::vector<raft::entry>{})) return false;
    if (found == nullptr) continue;
    const auto last = log == expected.entries.end() ? 0 : log->second.size();
    EXPECT_EQ(found->last_index.value(), last);
  }
  return true;
}

// How many of `items` the log holds: it must be a whole number of them, from the front.
std::optional<std::size_t> prefix_held(process& p, const std::vector<append_item>& items) {
  model expected;
  std::optional<std::size_t> held;
  if (equals(p, expected)) held = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    expected.take(items[i]);
    if (equals(p, expected)) held = i + 1;
  }
  return held;
}

// Appends all, some of them while others are under way, until the disk fails. Returns how many were acknowledged.
std::size_t run(process& p, const std::vector<append_item>& items, std::size_t from, std::uint64_t seed) {
  sim::rng random(seed);
  for (std::size_t i = from; i < items.size(); ++i) {
    p.append(items[i]);
    if (random.below(3) == 0) p.loop.run_until_idle();
  }
  p.loop.run_until_idle();
  std::size_t acknowledged = 0;
  for (const auto& [number, durable] : p.outcomes) {
    if (durable) EXPECT_EQ(number, acknowledged++);
  }
  return acknowledged;
}

const options small_files{.file_bytes = 30'000, .max_group_bytes = 9'000};

void check_after_cut(sim::sim_file_system& fs, const std::vector<append_item>& items, std::size_t acknowledged,
                     const std::string& where) {
  std::size_t held = 0;
  {
    process p(fs, small_files, 50);
    ASSERT_TRUE(p.wal) << where << ": " << p.failure->to_string();
    const auto found = prefix_held(p, items);
    ASSERT_TRUE(found) << where << ": not a prefix";
    ASSERT_GE(*found, acknowledged) << where;
    held = *found;
    // The log goes on from there, and what it takes now survives a second cut.
    ASSERT_EQ(run(p, items, held, 3), items.size() - held) << where;
  }
  sim::rng chance(7);
  fs.power_cut(chance);
  process p(fs, small_files, 51);
  ASSERT_TRUE(p.wal) << where << ": " << p.failure->to_string();
  ASSERT_EQ(prefix_held(p, items), items.size()) << where;
}

TEST(WalCrash, AtEveryOperationWithManyFates) {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    const auto items = script(seed, 14);
    std::uint64_t operations = 0;
    {
      sim::sim_file_system fs(seed);
      process p(fs, small_files, seed);
      ASSERT_EQ(run(p, items, 0, seed), items.size());
      operations = fs.operations().total();
      ASSERT_GT(p.wal->statistics().file_count, 1U) << "the cuts must also hit the making of files";
    }
    for (std::uint64_t crash = 1; crash <= operations; ++crash) {
      sim::sim_file_system fs(seed * 1000 + crash);
      fs.crash_after(crash);
      std::size_t acknowledged = 0;
      {
        process p(fs, small_files, seed);
        if (p.wal) acknowledged = run(p, items, 0, seed);
      }
      for (std::uint64_t fate = 0; fate < 6; ++fate) {
        auto twin = fs.copy(fate);
        sim::rng chance(seed * 100'000 + crash * 100 + fate);
        twin->power_cut(chance, fate == 0   ? sim::power_cut_options::only_synced()
                                : fate == 1 ? sim::power_cut_options::everything_written()
                                            : sim::power_cut_options{});
        (void)twin->make_directories("/wal");
        check_after_cut(*twin, items, acknowledged, fmt::format("seed {} crash {} fate {}", seed, crash, fate));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The last group write, cut at every sector boundary, with the size ahead of it (zeros) or not.
TEST(WalCrash, TornAtEverySector) {
  sim::sim_file_system fs;
  const auto items = script(11, 9);
  std::size_t before = 0;
  {
    process p(fs, {}, 1);
    ASSERT_EQ(run(p, {items.begin(), items.end() - 1}, 0, 1), items.size() - 1);
    before = content_of(fs, path_of(1)).size();
    p.append(item(group_a, {}, hard_state(99)));
    p.loop.run_until_idle();
  }
  const auto content = content_of(fs, path_of(1));
  ASSERT_GT(content.size(), before);
  const std::vector<append_item> expected(items.begin(), items.end() - 1);
  for (std::size_t cut = before; cut < content.size(); cut += 512) {
    for (const bool zeros_after : {false, true}) {
      auto twin = fs.copy(1);
      auto file = *twin->open(path_of(1), io::open_mode::read_write);
      ASSERT_TRUE(file->truncate(cut));
      if (zeros_after) ASSERT_TRUE(file->truncate(content.size()));
      process p(*twin);
      ASSERT_TRUE(p.wal) << p.failure->to_string();
      // The whole group fits into its first sectors, and zeros follow: then nothing is lost.
      const bool whole = zeros_after && std::all_of(content.begin() + static_cast<std::ptrdiff_t>(cut), content.end(),
                                                    [](std::byte b) { return b == std::byte{0}; });
      if (whole) {
        EXPECT_EQ(p.recovered(group_a)->state, hard_state(99));
      } else {
        EXPECT_EQ(prefix_held(p, expected), expected.size()) << cut;
        EXPECT_TRUE(p.write(item(group_a, {}, hard_state(100)))) << "in its place";
        p.wal.reset();
        process next(*twin);
        ASSERT_TRUE(next.wal) << next.failure->to_string();
        EXPECT_EQ(next.recovered(group_a)->state, hard_state(100));
      }
    }
  }
}

// Recovery itself is cut, at each of its operations, again and again; what comes out is always the same.
TEST(WalCrash, InterruptedRecoveryComesToTheSame) {
  const auto items = script(5, 10);
  sim::sim_file_system fs;
  std::size_t acknowledged = 0;
  {
    process p(fs, small_files, 1);
    ASSERT_TRUE(p.wal);
    fs.fail_next(sim::operation::sync_data, "*", io::errc::device_error, 4);
    acknowledged = run(p, items, 0, 1);
    ASSERT_LT(acknowledged, items.size());
  }
  for (std::uint64_t fate = 0; fate < 12; ++fate) {
    auto torn = fs.copy(fate);
    sim::rng chance(fate);
    torn->power_cut(chance);
    auto reference_fs = torn->copy(1);
    process reference(*reference_fs, small_files);
    ASSERT_TRUE(reference.wal);
    const auto held = prefix_held(reference, items);
    ASSERT_TRUE(held);
    ASSERT_GE(*held, acknowledged);
    for (std::uint64_t crash = 1; crash <= 4; ++crash) {
      auto twin = torn->copy(2);
      twin->crash_after(crash);
      {
        process interrupted(*twin, small_files);
      }
      twin->power_cut(chance);
      process p(*twin, small_files);
      ASSERT_TRUE(p.wal) << p.failure->to_string();
      EXPECT_EQ(prefix_held(p, items), held);
    }
  }
}

// A process that dies leaves its last write in the page cache. What the next life has read from there must not vanish
// in a power cut after it.
TEST(WalCrash, WhatALifeHasRecoveredIsDurable) {
  sim::sim_file_system fs;
  {
    process p(fs);
    fs.crash_after(2);  // the write passes, its sync does not
    EXPECT_FALSE(p.write(item(group_a, {make_entry(1, 1, "unsynced")})));
  }
  fs.kill_process();
  {
    process p(fs);
    ASSERT_TRUE(p.wal);
    ASSERT_EQ(p.all(group_a).size(), 1U);
  }
  sim::rng chance(1);
  fs.power_cut(chance, sim::power_cut_options::only_synced());
  process p(fs);
  EXPECT_EQ(p.all(group_a).size(), 1U);
}

// A sync that fails leaves its bytes in memory, where the next process can read them, and on no disk. Taking them for
// durable would let the next group write vouch for a hole.
TEST(WalCrash, WhatAFailedSyncLeftInMemoryIsNotRecovered) {
  sim::sim_file_system fs;
  {
    process p(fs);
    EXPECT_TRUE(p.write(item(group_a, {make_entry(1, 1, "durable")})));
    fs.fail_next(sim::operation::sync_data, "*", io::errc::device_error);
    EXPECT_FALSE(p.write(item(group_a, {make_entry(1, 2, "in memory only")})));
  }
  fs.kill_process();
  {
    process p(fs);
    ASSERT_TRUE(p.wal) << p.failure->to_string();
    ASSERT_EQ(p.all(group_a).size(), 1U);
    EXPECT_TRUE(p.write(item(group_a, {make_entry(2, 2, "in its place")})));
  }
  sim::rng chance(1);
  fs.power_cut(chance, sim::power_cut_options::only_synced());
  process p(fs);
  ASSERT_TRUE(p.wal) << p.failure->to_string();
  const auto entries = p.all(group_a);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(as_string_view(entries[1].payload), "in its place");
}

// The planted bug that these tests exist to find: a sync that does nothing.
TEST(WalCrash, ALyingSyncIsNoticed) {
  sim::sim_file_system fs;
  {
    process p(fs);
    fs.set_ignore_sync(true);
    EXPECT_TRUE(p.write(item(group_a, {make_entry(1, 1, "lost")})));
  }
  sim::rng chance(1);
  fs.power_cut(chance, sim::power_cut_options::only_synced());
  process p(fs);
  EXPECT_TRUE(p.all(group_a).empty());
}

}  // namespace
}  // namespace braidmq::wal::test
