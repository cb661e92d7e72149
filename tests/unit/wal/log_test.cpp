// The log on a healthy disk: group commit, order, reading, rotation; and on one that fails.
#include "wal/log.hpp"

#include <filesystem>
#include <future>

#include <gtest/gtest.h>

#include "fixture.hpp"
#include "io/thread_executor.hpp"

namespace braidmq::wal::test {
namespace {

TEST(WalLog, AnEmptyFolderBecomesALogWithoutEntries) {
  sim::sim_file_system fs;
  process p(fs);
  ASSERT_TRUE(p.wal) << p.failure->to_string();
  EXPECT_TRUE(p.wal->recovered().empty());
  EXPECT_EQ(names_in_wal(fs), std::vector<std::string>{format::file_name(1)});
  EXPECT_EQ(p.read(group_a, 1).error().code, errc::not_retained);
}

TEST(WalLog, WhatWasAppendedIsThereAfterARestart) {
  sim::sim_file_system fs;
  {
    process p(fs);
    EXPECT_TRUE(p.write(item(group_a, {make_entry(1, 1, "a1"), make_entry(1, 2, "a2")}, hard_state(1))));
    EXPECT_TRUE(p.write(item(group_b, {make_entry(5, 1, "b1")}, hard_state(5, 0))));
    EXPECT_TRUE(p.write(item(group_a, {make_entry(2, 3, "a3")}, hard_state(2, 2))));
    EXPECT_EQ(p.all(group_a).size(), 3U);
  }
  fs.kill_process();
  process p(fs);
  ASSERT_TRUE(p.wal) << p.failure->to_string();
  const recovered_group* a = p.recovered(group_a);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->state, hard_state(2, 2));
  EXPECT_EQ(a->first_index, raft::index(1));
  EXPECT_EQ(a->last_index, raft::index(3));
  EXPECT_EQ(a->last_term, raft::term(2));
  EXPECT_EQ(p.recovered(group_b)->last_term, raft::term(5));
  EXPECT_EQ(p.all(group_a), (std::vector{make_entry(1, 1, "a1"), make_entry(1, 2, "a2"), make_entry(2, 3, "a3")}));
  EXPECT_TRUE(p.write(item(group_a, {make_entry(2, 4, "a4")})));
  EXPECT_EQ(p.all(group_a).back(), make_entry(2, 4, "a4"));
}

TEST(WalLog, AppendsDuringAWriteShareTheNextSync) {
  sim::sim_file_system fs;
  process p(fs);
  const auto before = fs.operations();
  p.append(item(group_a, {make_entry(1, 1, "first")}));
  for (std::uint64_t i = 2; i <= 101; ++i) p.append(item(group_a, {make_entry(1, i, "next")}));
  EXPECT_GT(p.wal->statistics().queued_bytes, 101U);
  EXPECT_TRUE(p.outcomes.empty());
  p.loop.run_until_idle();
  const auto after = fs.operations();
  EXPECT_EQ(after.data_syncs - before.data_syncs, 2U);
  EXPECT_EQ(after.writes - before.writes, 2U);
  ASSERT_EQ(p.outcomes.size(), 101U);
  for (std::size_t i = 0; i < p.outcomes.size(); ++i) EXPECT_EQ(p.outcomes[i], std::pair(i, true));
  EXPECT_EQ(p.wal->statistics().groups_written, 2U);
  EXPECT_EQ(p.wal->statistics().syncs, 2U);
  EXPECT_EQ(p.wal->statistics().queued_bytes, 0U);
}

TEST(WalLog, AGroupWriteIsBoundedButALargeItemGoesAlone) {
  sim::sim_file_system fs;
  process p(fs, {.max_group_bytes = 10'000});
  const std::string payload(4000, 'p');
  p.append(item(group_a, {make_entry(1, 1, "starts the first write")}));
  for (std::uint64_t i = 2; i <= 6; ++i) p.append(item(group_a, {make_entry(1, i, payload)}));
  p.append(item(group_a, {make_entry(1, 7, std::string(50'000, 'l'))}));
  p.append(item(group_a, {make_entry(1, 8, "small")}));
  p.loop.run_until_idle();
  // 1 | 2 3 | 4 5 | 6 | 7 | 8
  EXPECT_EQ(p.wal->statistics().groups_written, 6U);
  EXPECT_EQ(p.all(group_a).size(), 8U);
}

TEST(WalLog, CallbacksAreLaterAndMayAppend) {
  sim::sim_file_system fs;
  process p(fs);
  std::vector<int> order;
  p.wal->append(item(group_a, {make_entry(1, 1, "")}), [&](status) {
    order.push_back(1);
    p.wal->append(item(group_a, {make_entry(1, 3, "")}), [&](status) { order.push_back(3); });
  });
  p.wal->append(item(group_a, {make_entry(1, 2, "")}), [&](status) { order.push_back(2); });
  EXPECT_TRUE(order.empty());
  p.loop.run_until_idle();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(WalLog, ReadsGiveAtLeastOneEntryAndStayWithinTheirBytes) {
  sim::sim_file_system fs;
  process p(fs);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    p.append(item(group_a, {make_entry(1, i, std::string(100, static_cast<char>('a' + i)))}));
    p.append(item(group_b, {make_entry(1, i, std::string(3000, 'o'))}));
    if (i % 3 == 0) p.loop.run_until_idle();
  }
  p.loop.run_until_idle();
  EXPECT_EQ(p.read(group_a, 5, 1).value().size(), 1U);
  EXPECT_EQ(p.read(group_a, 5, 99).value().front().index, raft::index(5));
  const auto some = p.read(group_a, 5, 350).value();
  EXPECT_GE(some.size(), 1U);
  EXPECT_LE(some.size(), 3U);
  EXPECT_EQ(p.all(group_a, 250), p.all(group_a));
  EXPECT_EQ(p.all(group_a).size(), 20U);
  EXPECT_EQ(p.read(group_a, 21).error().code, errc::not_retained);
  EXPECT_EQ(p.read(group_a, 0).error().code, errc::not_retained);
}

TEST(WalLog, ATailIsReplacedAlsoWithinOneGroupWrite) {
  sim::sim_file_system fs;
  const auto check = [](process& p) {
    EXPECT_EQ(p.all(group_a), (std::vector{make_entry(1, 1, "1"), make_entry(3, 2, "new 2"),
                                           make_entry(4, 3, "newer 3"), make_entry(4, 4, "newer 4")}));
  };
  {
    process p(fs);
    p.write(
        item(group_a, {make_entry(1, 1, "1"), make_entry(1, 2, "2"), make_entry(1, 3, "3"), make_entry(1, 4, "4")}));
    p.append(item(group_b, {make_entry(1, 1, "")}));  // under way, so that the next two share a write
    p.append(item(group_a, {make_entry(3, 2, "new 2"), make_entry(3, 3, "new 3")}));
    p.append(item(group_a, {make_entry(4, 3, "newer 3"), make_entry(4, 4, "newer 4")}));
    p.loop.run_until_idle();
    check(p);
  }
  process p(fs);
  check(p);
  EXPECT_EQ(p.recovered(group_a)->last_term, raft::term(4));
  using run = raft::term_run;
  const std::vector<run> expected = {
      {raft::index(1), raft::term(1)}, {raft::index(2), raft::term(3)}, {raft::index(3), raft::term(4)}};
  EXPECT_EQ(p.recovered(group_a)->terms, expected) << "of what was replaced nothing is left";
  EXPECT_EQ(p.recovered(group_b)->terms, std::vector<run>({{raft::index(1), raft::term(1)}}));
}

TEST(WalLog, ARunIsSeenOnlyOnceItIsDurable) {
  sim::sim_file_system fs;
  process p(fs);
  p.append(item(group_a, {make_entry(1, 1, "")}));
  std::optional<error> refused;
  p.wal->read(group_a, raft::index(1), 1, [&](auto r) { refused = r.error(); });
  p.loop.run_until_idle();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code, errc::not_retained);
  EXPECT_TRUE(p.read(group_a, 1));
}

TEST(WalLog, FilesFollowOneAnotherAndCarryTheStateOfAllGroups) {
  sim::sim_file_system fs;
  {
    process p(fs, {.file_bytes = 20'000, .preallocate = false});
    p.write(item(group_b, {make_entry(2, 1, "only in the first file")}, hard_state(2, 1)));
    for (std::uint64_t i = 1; i <= 30; ++i)
      p.write(item(group_a, {make_entry(1, i, std::to_string(i))}, hard_state(1, i - 1)));
    EXPECT_GT(p.wal->statistics().file_count, 8U);
    EXPECT_EQ(p.wal->statistics().file_count, names_in_wal(fs).size());
    EXPECT_EQ(p.all(group_a).size(), 30U);
  }
  {
    process p(fs, {.file_bytes = 20'000, .preallocate = false});
    EXPECT_EQ(p.all(group_a).size(), 30U);
    EXPECT_EQ(p.all(group_b).size(), 1U);
    EXPECT_EQ(p.recovered(group_a)->state, hard_state(1, 29));
    std::uint64_t bytes = 0;
    for (const auto& name : names_in_wal(fs)) bytes += content_of(fs, "/wal/" + name).size();
    EXPECT_EQ(p.wal->statistics().file_bytes, bytes);
  }
  // Files leave the log at the front: terms, votes and last indexes must not go with them.
  for (std::uint64_t file = 1; file <= 4; ++file) ASSERT_TRUE(fs.remove(path_of(file)));
  process p(fs);
  ASSERT_TRUE(p.wal) << p.failure->to_string();
  EXPECT_EQ(p.recovered(group_b)->state, hard_state(2, 1));
  EXPECT_EQ(p.recovered(group_b)->last_index, raft::index(1));
  EXPECT_EQ(p.recovered(group_b)->first_index, raft::index(0));
  EXPECT_GT(p.recovered(group_a)->first_index, raft::index(1));
  EXPECT_EQ(p.all(group_a).back().index, raft::index(30));
  EXPECT_TRUE(p.recovered(group_b)->terms.empty());
  ASSERT_EQ(p.recovered(group_a)->terms.size(), 1U);
  EXPECT_EQ(p.recovered(group_a)->terms[0].first, p.recovered(group_a)->first_index);
}

TEST(WalLog, EachFileHasAnIncarnationOfItsOwn) {
  sim::sim_file_system fs;
  process p(fs, {.file_bytes = 1});
  p.write(item(group_a, {make_entry(1, 1, "")}));
  p.write(item(group_a, {make_entry(1, 2, "")}));
  const auto header = [&](std::uint64_t file) {
    return *format::parse_file_header(byte_view(content_of(fs, path_of(file))).first(format::block_bytes));
  };
  EXPECT_NE(header(1).incarnation, header(2).incarnation);
  EXPECT_FALSE(header(2).incarnation.is_zero());
}

TEST(WalLog, UnknownFilesAreLeftAloneAndUnfinishedOnesGo) {
  sim::sim_file_system fs;
  {
    process p(fs);
  }
  const std::vector<std::string> foreign = {"lost+found.txt", "1.wal", "00000000000000000009.wal.bak", "notes.tmp"};
  for (const auto& name : foreign) ASSERT_TRUE(fs.open("/wal/" + name, io::open_mode::create));
  ASSERT_TRUE(fs.open(path_of(2) + ".tmp", io::open_mode::create));
  process p(fs);
  ASSERT_TRUE(p.wal);
  for (const auto& name : foreign) EXPECT_TRUE(fs.exists("/wal/" + name).value()) << name;
  EXPECT_FALSE(fs.exists(path_of(2) + ".tmp").value());
}

TEST(WalLog, AFailedSyncIsFinal) {
  for (const auto kind : {sim::operation::sync_data, sim::operation::write}) {
    sim::sim_file_system fs;
    process p(fs);
    EXPECT_TRUE(p.write(item(group_a, {make_entry(1, 1, "good")})));
    fs.fail_next(kind, "*.wal*", io::errc::device_error);
    p.append(item(group_a, {make_entry(1, 2, "in the failing write")}));
    p.append(item(group_a, {make_entry(1, 3, "waiting")}));
    p.loop.run_until_idle();
    ASSERT_EQ(p.outcomes.size(), 3U);
    EXPECT_FALSE(p.outcomes[1].second);
    EXPECT_FALSE(p.outcomes[2].second);
    const auto syncs = fs.operations().total();
    EXPECT_FALSE(p.write(item(group_a, {make_entry(1, 4, "later")})));
    EXPECT_EQ(p.last_error->code, errc::failed);
    EXPECT_EQ(fs.operations().total(), syncs) << "nothing is tried again";
    EXPECT_EQ(p.read(group_a, 1).value().size(), 1U) << "what was durable can be read";
    EXPECT_EQ(p.read(group_a, 2).error().code, errc::not_retained);
  }
}

TEST(WalLog, AFailureWhileAFileIsMadeIsFinalToo) {
  for (const auto kind : {sim::operation::make_name, sim::operation::rename, sim::operation::sync_directory}) {
    sim::sim_file_system fs;
    process p(fs, {.file_bytes = 1, .preallocate = false});
    ASSERT_TRUE(p.write(item(group_a, {make_entry(1, 1, "")})));
    fs.fail_next(kind, "*", io::errc::no_space);
    EXPECT_FALSE(p.write(item(group_a, {make_entry(1, 2, "")})));
    EXPECT_EQ(p.last_error->code, io::errc::no_space);
    EXPECT_FALSE(p.write(item(group_a, {make_entry(1, 3, "")})));
    EXPECT_EQ(p.last_error->code, errc::failed);
  }
}

TEST(WalLog, DamageFoundByAReadIsAnError) {
  sim::sim_file_system fs;
  process p(fs);
  p.write(item(group_a, {make_entry(1, 1, "one")}));
  p.write(item(group_a, {make_entry(1, 2, "two")}));
  fs.flip_bits(path_of(1), 3 * format::block_bytes + 200, 1);
  EXPECT_EQ(p.read(group_a, 1, 1).value().size(), 1U);
  const auto bad = p.read(group_a, 2);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, errc::corrupt);
  EXPECT_NE(bad.error().message.find(path_of(1) + " at byte 12288"), std::string::npos) << bad.error().message;
}

TEST(WalLog, DestroyedDuringAWriteNothingIsCalled) {
  sim::sim_file_system fs;
  process p(fs);
  p.append(item(group_a, {make_entry(1, 1, "under way")}));
  p.append(item(group_a, {make_entry(1, 2, "waiting")}));
  bool read_answered = false;
  p.wal->read(group_a, raft::index(1), 1, [&](auto) { read_answered = true; });
  ASSERT_TRUE(p.loop.run_one(p.disk));
  p.wal.reset();
  p.loop.run_until_idle();
  EXPECT_TRUE(p.outcomes.empty());
  EXPECT_FALSE(read_answered);
}

TEST(WalLog, ACallbackMayDestroyTheLog) {
  sim::sim_file_system fs;
  process p(fs);
  int calls = 0;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    p.wal->append(item(group_a, {make_entry(1, i, "")}), [&](status) {
      ++calls;
      if (calls == 2) p.wal.reset();
    });
  }
  p.loop.run_until_idle();
  EXPECT_EQ(calls, 2);
}

TEST(WalLogDeathTest, EntriesThatDoNotFollowStopTheProcess) {
  sim::sim_file_system fs;
  process p(fs);
  EXPECT_DEATH(p.append(item(group_a, {make_entry(1, 2, "")})), "entry 2 after 0");
  EXPECT_DEATH(p.append(item(group_a, {make_entry(1, 1, ""), make_entry(1, 3, "")})), "where 2 belongs");
}

// Nothing here is idle for long enough.
class no_timers final : public io::timer_service {
 public:
  io::timer_id schedule(io::duration, unique_function<void()>) override { return io::timer_id{1}; }
  bool cancel(io::timer_id) override { return true; }
};

// Real files and a real disk thread: the seams do not hide a race or a system call that behaves otherwise.
TEST(WalLog, WorksOnRealFilesAndThreads) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "braid_wal_log_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  for (std::uint64_t life = 0; life < 3; ++life) {
    io::thread_executor disk("disk");
    io::thread_executor background("background");
    io::thread_executor owner("owner");
    no_timers timers;
    std::promise<std::size_t> counted;
    std::unique_ptr<log> wal;
    std::size_t durable = 0;
    const std::uint64_t first = life * 200 + 1;
    owner.post([&] {
      wal = std::move(*log::open(
          {io::posix_file_system(), disk, background, owner, timers, io::system_random(), io::system_clock()},
          {.folder = folder, .file_bytes = 100'000}));
      for (std::uint64_t i = first; i < first + 200; ++i) {
        wal->append(item(group_a, {make_entry(1, i, std::string(i * 7, 'x'))}), [&](status s) {
          ASSERT_TRUE(s);
          if (++durable < 200) return;
          wal->read(group_a, raft::index(1), 1U << 30U, [&](auto r) {
            const std::size_t count = r->size();
            wal.reset();
            counted.set_value(count);
          });
        });
      }
    });
    EXPECT_EQ(counted.get_future().get(), first + 199);
    owner.stop();
    disk.stop();
    background.stop();
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace braidmq::wal::test
