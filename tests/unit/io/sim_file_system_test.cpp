// The fault model of the simulated file system: what a power cut may do, does, and must not do.
#include "support/sim_file_system.hpp"

#include <set>

#include <gtest/gtest.h>

namespace braidmq::sim {
namespace {

using io::open_mode;

std::string content(io::file_system& fs, const std::string& path) {
  auto read = io::read_file(fs, path, 1U << 20U);
  return read ? std::string(as_string_view(*read)) : "(" + read.error().code.message() + ")";
}

class SimFileSystemTest : public testing::Test {
 protected:
  SimFileSystemTest() { EXPECT_TRUE(fs_.make_directories("/d")); }

  std::unique_ptr<io::file> open(const std::string& path, open_mode mode = open_mode::create) {
    auto opened = fs_.open(path, mode);
    BRAID_CHECK(opened.has_value(), "{}", opened.error().to_string());
    return std::move(*opened);
  }
  void write(io::file& target, std::uint64_t position, std::string_view text) {
    ASSERT_TRUE(target.write_at(position, as_byte_view(text)));
  }
  void make_durable(const std::string& path, std::string_view text) {
    const auto target = open(path);
    write(*target, 0, text);
    ASSERT_TRUE(target->sync_data());
    ASSERT_TRUE(fs_.sync_directory("/d"));
  }
  // All contents of `path` that `tries` power cuts from this point leave.
  std::set<std::string> outcomes(const std::string& path, int tries, const power_cut_options& options = {}) {
    std::set<std::string> seen;
    for (int seed = 0; seed < tries; ++seed) {
      const auto twin = fs_.copy(1);
      rng chance(static_cast<std::uint64_t>(seed));
      twin->power_cut(chance, options);
      seen.insert(content(*twin, path));
    }
    return seen;
  }

  sim_file_system fs_{7};
};

TEST_F(SimFileSystemTest, SyncedBytesAndNamesAlwaysStay) {
  make_durable("/d/a", std::string(5000, 'x'));
  EXPECT_EQ(outcomes("/d/a", 200), (std::set<std::string>{std::string(5000, 'x')}));
}

TEST_F(SimFileSystemTest, UnsyncedAppendIsLostWhollyPartlyTornOrPrecededByItsSize) {
  make_durable("/d/a", std::string(1000, 'x'));
  const auto target = open("/d/a");
  write(*target, 1000, std::string(1000, 'y'));
  const auto seen = outcomes("/d/a", 2000);
  const std::string x(1000, 'x');
  EXPECT_TRUE(seen.contains(x)) << "lost";
  EXPECT_TRUE(seen.contains(x + std::string(1000, 'y'))) << "kept";
  EXPECT_TRUE(seen.contains(x + std::string(1000, '\0'))) << "size ahead of the bytes";
  EXPECT_TRUE(seen.contains(x + std::string(24, '\0') + std::string(512, 'y') + std::string(464, '\0')))
      << "one sector in the middle";
  for (const std::string& each : seen) {
    EXPECT_EQ(each.substr(0, 1000), x) << "synced bytes always stay";
    for (std::size_t at = 1000; at < each.size(); ++at) {
      const bool starts_sector = at % 512 == 0 || at == 1000;
      EXPECT_TRUE(each[at] == 'y' || each[at] == '\0');
      if (!starts_sector) EXPECT_EQ(each[at], each[at - 1]) << "a sector is whole: " << at;
    }
  }
}

TEST_F(SimFileSystemTest, LaterWritesMaySurviveEarlierOnes) {
  make_durable("/d/a", std::string(1536, '-'));
  const auto target = open("/d/a");
  write(*target, 0, std::string(512, '1'));
  write(*target, 1024, std::string(512, '2'));
  const auto seen = outcomes("/d/a", 500);
  const auto state = [](char first, char last) {
    return std::string(512, first) + std::string(512, '-') + std::string(512, last);
  };
  EXPECT_EQ(seen, (std::set<std::string>{state('-', '-'), state('1', '-'), state('-', '2'), state('1', '2')}));
}

TEST_F(SimFileSystemTest, ASyncBetweenTwoWritesOrdersThem) {
  make_durable("/d/a", std::string(1024, '-'));
  const auto target = open("/d/a");
  write(*target, 0, std::string(512, '1'));
  ASSERT_TRUE(target->sync_data());
  write(*target, 512, std::string(512, '2'));
  EXPECT_EQ(outcomes("/d/a", 200), (std::set<std::string>{std::string(512, '1') + std::string(512, '-'),
                                                          std::string(512, '1') + std::string(512, '2')}));
}

TEST_F(SimFileSystemTest, ATruncateMayBeLostOnItsOwn) {
  make_durable("/d/a", "abcdef");
  const auto target = open("/d/a");
  ASSERT_TRUE(target->truncate(2));
  EXPECT_EQ(outcomes("/d/a", 200), (std::set<std::string>{"abcdef", "ab"}));
  ASSERT_TRUE(target->sync_data());
  EXPECT_EQ(outcomes("/d/a", 50), (std::set<std::string>{"ab"}));
}

TEST_F(SimFileSystemTest, UnsyncedNamesMayBeLostEvenWhenTheBytesAreSynced) {
  const auto target = open("/d/new");
  write(*target, 0, "bytes");
  ASSERT_TRUE(target->sync_data());
  EXPECT_EQ(outcomes("/d/new", 100), (std::set<std::string>{"(not found)", "bytes"}));
  ASSERT_TRUE(fs_.sync_directory("/d"));
  EXPECT_EQ(outcomes("/d/new", 100), (std::set<std::string>{"bytes"}));
  ASSERT_TRUE(fs_.remove("/d/new"));
  EXPECT_EQ(outcomes("/d/new", 100), (std::set<std::string>{"(not found)", "bytes"})) << "a remove may be undone";
  ASSERT_TRUE(fs_.sync_directory("/d"));
  EXPECT_EQ(outcomes("/d/new", 100), (std::set<std::string>{"(not found)"}));
}

TEST_F(SimFileSystemTest, ARenameIsOneChange) {
  make_durable("/d/a", "old");
  make_durable("/d/a.tmp", "new");
  ASSERT_TRUE(fs_.rename("/d/a.tmp", "/d/a"));
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto twin = fs_.copy(1);
    rng chance(seed);
    twin->power_cut(chance);
    seen.insert(content(*twin, "/d/a") + " " + content(*twin, "/d/a.tmp"));
  }
  EXPECT_EQ(seen, (std::set<std::string>{"old new", "new (not found)"}));
}

TEST_F(SimFileSystemTest, WriteFileAtomicallyIsOldOrNewAfterACrashAtEachOperation) {
  make_durable("/d/a", "old");
  bool finished = false;
  for (std::uint64_t n = 1; !finished; ++n) {
    ASSERT_LT(n, 20U);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto twin = fs_.copy(seed);
      twin->crash_after(n);
      finished = io::write_file_atomically(*twin, "/d/a", as_byte_view("new")).has_value();
      rng chance(seed);
      twin->power_cut(chance);
      const std::string after = content(*twin, "/d/a");
      if (finished) {
        EXPECT_EQ(after, "new");
      } else {
        EXPECT_TRUE(after == "old" || after == "new") << after;
      }
    }
  }
}

TEST_F(SimFileSystemTest, ThePlantedIgnoreSyncBugLosesWhatWasAcknowledged) {
  fs_.set_ignore_sync(true);
  make_durable("/d/a", "acknowledged");
  EXPECT_EQ(outcomes("/d/a", 1, power_cut_options::only_synced()), (std::set<std::string>{""}));
}

TEST_F(SimFileSystemTest, AFailedSyncLosesTheBytesForGoodWhateverLaterSyncsSay) {
  make_durable("/d/a", "old");
  const auto target = open("/d/a");
  write(*target, 0, "new");
  fs_.fail_next(operation::sync_data, "/d/*", io::errc::device_error);
  EXPECT_EQ(target->sync_data().error().code, io::errc::device_error);
  EXPECT_TRUE(target->sync_data());
  EXPECT_EQ(content(fs_, "/d/a"), "new");
  EXPECT_EQ(outcomes("/d/a", 50), (std::set<std::string>{"old"}));
}

TEST_F(SimFileSystemTest, InjectedErrorsHitTheirPathAfterTheirSkipAndLeaveAPrefix) {
  fs_.fail_next(operation::write, "*.log", io::errc::no_space, 1);
  fs_.fail_next(operation::open, "/d/locked", io::errc::permission_denied);
  EXPECT_EQ(fs_.open("/d/locked", open_mode::create).error().code, io::errc::permission_denied);
  EXPECT_TRUE(fs_.open("/d/locked", open_mode::create));
  const auto log = open("/d/x.log");
  const auto other = open("/d/x.index");
  write(*log, 0, "first");
  write(*other, 0, "other");
  EXPECT_EQ(log->write_at(5, as_byte_view("second")).error().code, io::errc::no_space);
  const std::string after = content(fs_, "/d/x.log");
  EXPECT_LT(after.size(), 11U);
  EXPECT_TRUE(std::string("firstsecond").starts_with(after)) << after;
  write(*log, 5, "second");
  EXPECT_EQ(content(fs_, "/d/x.log"), "firstsecond");
}

TEST_F(SimFileSystemTest, CrashAfterNStopsEverythingAndHandlesAndLocksDieWithTheProcess) {
  make_durable("/d/a", "old");
  const auto target = open("/d/a");
  const auto lock = fs_.lock("/d/lock");
  ASSERT_TRUE(lock);
  const auto before = fs_.operations();
  fs_.crash_after(2);
  write(*target, 0, "1");
  EXPECT_FALSE(fs_.crashed());
  const auto failed = target->sync_data();
  EXPECT_EQ(failed.error().code, io::errc::device_error);
  EXPECT_NE(failed.error().message.find("simulated power cut"), std::string::npos);
  EXPECT_TRUE(fs_.crashed());
  EXPECT_EQ(fs_.operations().total(), before.total() + 2);
  EXPECT_FALSE(fs_.open("/d/a", open_mode::read));
  EXPECT_FALSE(fs_.exists("/d/a"));
  EXPECT_FALSE(target->size());
  fs_.kill_process();
  EXPECT_EQ(content(fs_, "/d/a"), "1ld") << "only the process died";
  EXPECT_FALSE(target->write_at(0, as_byte_view("x"))) << "a handle of the dead process";
  EXPECT_TRUE(fs_.lock("/d/lock"));
  rng chance(1);
  fs_.power_cut(chance, power_cut_options::only_synced());
  EXPECT_EQ(content(fs_, "/d/a"), "old");
}

TEST_F(SimFileSystemTest, AnInterruptedMakeDirectoriesIsMadeGoodByTheNext) {
  for (std::uint64_t n = 1; n <= 8; ++n) {
    const auto twin = fs_.copy(n);
    twin->crash_after(n);
    const bool finished = twin->make_directories("/d/x/y/z").has_value();
    EXPECT_EQ(finished, n == 8) << "a sync of /d's parent, then three folders with a sync each";
    twin->kill_process();
    ASSERT_TRUE(twin->make_directories("/d/x/y/z"));
    rng chance(n);
    twin->power_cut(chance, power_cut_options::only_synced());
    EXPECT_TRUE(*twin->exists("/d/x/y/z")) << n;
  }
}

TEST_F(SimFileSystemTest, TheSameSeedGivesTheSameRun) {
  const auto run = [](std::uint64_t seed) {
    sim_file_system fs(seed);
    rng chance(seed);
    std::string trace;
    EXPECT_TRUE(fs.make_directories("/d"));
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 10; ++i) {
        const std::string path = fmt::format("/d/{}", chance.below(4));
        auto target = fs.open(path, open_mode::create);
        EXPECT_TRUE(target);
        const std::string text(1 + chance.below(2000), static_cast<char>('a' + chance.below(26)));
        EXPECT_TRUE((*target)->write_at(chance.below(3000), as_byte_view(text)));
        if (chance.chance(0.2)) EXPECT_TRUE((*target)->sync_data());
        if (chance.chance(0.1)) EXPECT_TRUE(fs.remove(path));
        if (chance.chance(0.2)) EXPECT_TRUE(fs.sync_directory("/d"));
      }
      fs.power_cut(chance);
      const auto names = fs.list("/d").value();
      for (const std::string& name : names) trace += name + content(fs, "/d/" + name);
    }
    return trace;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

TEST_F(SimFileSystemTest, FlippedBitsStayFlipped) {
  make_durable("/d/a", "abc");
  const auto target = open("/d/a");
  write(*target, 1, "B");
  fs_.flip_bits("/d/a", 0, 0x20);
  fs_.flip_bits("/d/a", 1, 0x20);
  ASSERT_TRUE(target->sync_data());
  EXPECT_EQ(outcomes("/d/a", 10), (std::set<std::string>{"Abc"}));
}

}  // namespace
}  // namespace braidmq::sim
