// Files that are made ahead, marks, and files that leave the log and are used again.
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace braidmq::wal::test {
namespace {

using namespace std::chrono_literals;

const options small{.file_bytes = 40'000};  // header, state and seven small group writes

void write_some(process& p, std::uint64_t first, std::uint64_t last, std::string_view payload = "x") {
  for (std::uint64_t i = first; i <= last; ++i) {
    ASSERT_TRUE(p.write(item(group_a, {make_entry(1, i, payload)}, hard_state(1, i - 1))));
  }
}

std::uint64_t size_of(sim::sim_file_system& fs, const std::string& path) {
  return content_of(fs, path).size();
}

void be_idle(process& p) {
  p.timers.advance(5ms);
  p.loop.run_until_idle();
}

TEST(WalRecycle, FilesHaveTheirFullSizeBeforeAnythingIsWritten) {
  sim::sim_file_system fs;
  process p(fs, small);
  EXPECT_EQ(size_of(fs, path_of(1)), 40'960U) << "the first one, too";
  write_some(p, 1, 30);
  const auto files = p.wal->statistics().file_count;
  ASSERT_GT(files, 3U);
  for (std::uint64_t file = 1; file <= files; ++file) EXPECT_EQ(size_of(fs, path_of(file)), 40'960U) << file;
  EXPECT_EQ(p.wal->statistics().recycled_files, files - 1) << "each was made ahead";
}

TEST(WalRecycle, AWriteThatIsLargerThanAFileMakesAFreshOneGrow) {
  sim::sim_file_system fs;
  {
    process p(fs, small);
    write_some(p, 1, 2);
    write_some(p, 3, 3, std::string(100'000, 'l'));
    write_some(p, 4, 5);
    EXPECT_EQ(p.wal->statistics().file_count, 3U);
    EXPECT_GT(size_of(fs, path_of(2)), 100'000U);
  }
  process p(fs, small);
  ASSERT_TRUE(p.wal) << p.failure->to_string();
  EXPECT_EQ(p.all(group_a).size(), 5U);
}

TEST(WalRecycle, AFileThatCannotBeMadeAheadIsNoFailure) {
  sim::sim_file_system fs;
  process p(fs, small);
  fs.fail_next(sim::operation::write, "*" + format::spare_name(2) + "*", io::errc::no_space);  // the first is the log
  write_some(p, 1, 12);
  EXPECT_EQ(p.wal->statistics().spare_failures, 1U);
  EXPECT_EQ(p.wal->statistics().file_count, 2U);
  EXPECT_LT(size_of(fs, path_of(2)), 40'960U) << "it grows";
  write_some(p, 13, 30);
  EXPECT_EQ(p.wal->statistics().spare_failures, 1U) << "the next one could be made";
  EXPECT_EQ(p.all(group_a).size(), 30U);
}

TEST(WalRecycle, SparesAreFoundAtTheNextStart) {
  sim::sim_file_system fs;
  {
    process p(fs, small);
    write_some(p, 1, 5);
    p.loop.run_until_idle();
    EXPECT_EQ(p.wal->statistics().spare_files, 1U);
  }
  ASSERT_TRUE(fs.open("/wal/" + format::spare_name(9), io::open_mode::create)) << "of another size";
  process p(fs, small);
  EXPECT_EQ(p.wal->statistics().spare_files, 1U);
  EXPECT_FALSE(fs.exists("/wal/" + format::spare_name(9)).value());
  write_some(p, 6, 20);
  EXPECT_EQ(p.all(group_a).size(), 20U);
}

TEST(WalRecycle, ReleasedFilesAreUsedAgainAndOldBytesNeverPass) {
  sim::sim_file_system fs;
  {
    process p(fs, small);
    std::uint64_t written = 0;
    for (int round = 0; round < 12; ++round) {
      write_some(p, written + 1, written + 20, "round " + std::to_string(round));
      written += 20;
      p.wal->release(group_a, raft::index(written - 4));
      p.loop.run_until_idle();
      ASSERT_EQ(p.last_error, std::nullopt);
    }
    EXPECT_LE(p.wal->statistics().file_count, 4U);
    EXPECT_GT(p.wal->statistics().recycled_files, 10U);
    EXPECT_LE(names_in_wal(fs).size(), 6U);
    EXPECT_EQ(p.read(group_a, 1).error().code, errc::not_retained);
    EXPECT_EQ(p.read(group_a, written - 4, 1).value().front().index.value(), written - 4);
  }
  process p(fs, small);
  ASSERT_TRUE(p.wal) << p.failure->to_string();
  EXPECT_EQ(p.recovered(group_a)->last_index, raft::index(240));
  EXPECT_GT(p.recovered(group_a)->first_index, raft::index(200));
  EXPECT_LE(p.recovered(group_a)->first_index, raft::index(236));
  EXPECT_EQ(p.recovered(group_a)->state, hard_state(1, 239));
}

TEST(WalRecycle, WhatAnyGroupNeedsStays) {
  sim::sim_file_system fs;
  process p(fs, small);
  EXPECT_TRUE(p.write(item(group_b, {make_entry(1, 1, "needed")})));
  write_some(p, 1, 30);
  p.wal->release(group_a, raft::index(30));
  p.loop.run_until_idle();
  EXPECT_TRUE(fs.exists(path_of(1)).value());
  EXPECT_EQ(p.read(group_b, 1).value().size(), 1U);
  p.wal->release(group_b, raft::index(2));
  p.loop.run_until_idle();
  EXPECT_FALSE(fs.exists(path_of(1)).value());
  EXPECT_EQ(p.read(group_a, 30).value().size(), 1U);
}

TEST(WalRecycle, AReadThatIsUnderWayKeepsItsFile) {
  sim::sim_file_system fs;
  process p(fs, small);
  write_some(p, 1, 20);
  std::optional<result<std::vector<raft::entry>>> answer;
  p.wal->read(group_a, raft::index(1), 1U << 20U, [&](auto r) { answer = std::move(r); });
  p.wal->release(group_a, raft::index(20));
  write_some(p, 21, 40);  // would be written over it
  p.loop.run_until_idle();
  ASSERT_TRUE(answer && *answer) << (*answer).error().to_string();
  EXPECT_EQ((*answer)->size(), 20U);
}

// Power cuts at every operation while files are used again and again.
TEST(WalRecycle, CutsAtEveryOperationLoseNothing) {
  const auto live = [](process& p, std::uint64_t& acknowledged) {
    std::uint64_t next = p.recovered(group_a) != nullptr ? p.recovered(group_a)->last_index.value() + 1 : 1;
    for (int i = 0; i < 24; ++i, ++next) {
      if (!p.write(item(group_a, {make_entry(1, next, std::string(next * 37 % 6000, 'p'))}, hard_state(1, next - 1))))
        return;
      acknowledged = next;
      if (next % 5 == 0 && next > 3) p.wal->release(group_a, raft::index(next - 3));
      if (next % 7 == 0) be_idle(p);
    }
  };
  std::uint64_t operations = 0;
  {
    sim::sim_file_system fs;
    process p(fs, small);
    std::uint64_t acknowledged = 0;
    live(p, acknowledged);
    ASSERT_EQ(acknowledged, 24U);
    operations = fs.operations().total();
  }
  for (std::uint64_t crash = 1; crash <= operations; ++crash) {
    sim::sim_file_system fs(crash);
    sim::rng chance(crash * 7);
    std::uint64_t acknowledged = 0;
    fs.crash_after(crash);
    for (int life = 0; life < 4; ++life) {
      {
        process p(fs, small, crash * 10 + static_cast<std::uint64_t>(life));
        if (p.wal) {
          if (const auto* found = p.recovered(group_a)) ASSERT_GE(found->last_index.value(), acknowledged) << crash;
          if (acknowledged > 0) ASSERT_NE(p.recovered(group_a), nullptr) << crash;
          const auto entries = p.all(group_a);
          if (acknowledged > 0) {
            ASSERT_FALSE(entries.empty()) << crash;
            ASSERT_EQ(entries.back().index, p.recovered(group_a)->last_index) << crash;
          }
          live(p, acknowledged);
        } else {
          ASSERT_TRUE(fs.crashed()) << crash << ": " << p.failure->to_string();
        }
      }
      fs.power_cut(chance);
      (void)fs.make_directories("/wal");
      if (life < 2) fs.crash_after(1 + chance.below(operations));
    }
  }
}

TEST(WalMark, FollowsWhenNothingElseDoes) {
  sim::sim_file_system fs;
  process p(fs, small);
  be_idle(p);
  EXPECT_EQ(p.wal->statistics().marks, 0U) << "nothing was written";
  write_some(p, 1, 2);
  p.timers.advance(4ms);
  p.loop.run_until_idle();
  EXPECT_EQ(p.wal->statistics().marks, 0U);
  write_some(p, 3, 3);
  p.timers.advance(1ms);
  p.loop.run_until_idle();
  EXPECT_EQ(p.wal->statistics().marks, 0U) << "5 ms after the last one";
  be_idle(p);
  EXPECT_EQ(p.wal->statistics().marks, 1U);
  const auto before = fs.operations().total();
  for (int i = 0; i < 5; ++i) be_idle(p);
  EXPECT_EQ(fs.operations().total(), before) << "one is enough";
  write_some(p, 4, 4);
  be_idle(p);
  EXPECT_EQ(p.wal->statistics().marks, 2U);
}

TEST(WalMark, MakesDamageOfTheLastWriteKnown) {
  for (const std::uint64_t last : {3U, 7U}) {  // the second fills its file: the next file is the mark
    sim::sim_file_system fs;
    {
      process p(fs, small);
      write_some(p, 1, last);
      be_idle(p);
    }
    fs.kill_process();
    fs.flip_bits(path_of(1), (1 + last) * format::block_bytes + 100, 1);
    process p(fs, small);
    ASSERT_FALSE(p.wal) << last;
    EXPECT_EQ(p.failure->code, errc::corrupt);
    EXPECT_NE(p.failure->message.find(path_of(1)), std::string::npos) << p.failure->message;
  }
}

TEST(WalMark, IsWrittenAfterAStart) {
  sim::sim_file_system fs;
  {
    process p(fs, small);
    write_some(p, 1, 3);
  }
  fs.kill_process();
  {
    process p(fs, small);
    p.loop.run_until_idle();
    be_idle(p);
    EXPECT_EQ(p.wal->statistics().marks, 1U);
  }
  fs.kill_process();
  fs.flip_bits(path_of(1), 4 * format::block_bytes + 100, 1);
  process p(fs, small);
  EXPECT_FALSE(p.wal);
}

TEST(WalMark, IsNotWrittenAgainByEachStart) {
  sim::sim_file_system fs;
  for (int life = 0; life < 3; ++life) {
    process p(fs, small);
    if (life == 0) write_some(p, 1, 3);
    p.loop.run_until_idle();
    be_idle(p);
    EXPECT_EQ(p.wal->statistics().marks, life == 0 ? 1U : 0U);
  }
}

// The header of a write says that the one before it was durable, even where the rest of that write is torn.
TEST(WalMark, TheHeaderOfATornWriteVouchesToo) {
  sim::sim_file_system fs;
  {
    process p(fs, small);
    write_some(p, 1, 2);
    write_some(p, 3, 3, std::string(6'000, 't'));
  }
  fs.flip_bits(path_of(1), 5 * format::block_bytes + 50, 1);  // the second block of entry 3
  {
    auto twin = fs.copy(1);
    process p(*twin, small);
    ASSERT_TRUE(p.wal) << p.failure->to_string();
    EXPECT_EQ(p.all(group_a).size(), 2U);
    EXPECT_EQ(p.wal->statistics().cut_bytes, 2 * format::block_bytes);
  }
  fs.flip_bits(path_of(1), 3 * format::block_bytes + 100, 1);
  process p(fs, small);
  ASSERT_FALSE(p.wal);
  EXPECT_NE(p.failure->message.find("at byte 12288"), std::string::npos) << p.failure->message;
}

}  // namespace
}  // namespace braidmq::wal::test
