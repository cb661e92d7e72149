#include "storage/recovery.hpp"

#include <map>

#include "log_fixture.hpp"

namespace braidmq::storage {
namespace {

const std::string folder = "/data/topic-0";

using tree = std::map<std::string, bytes>;

tree files_of(io::file_system& fs) {
  tree found;
  const auto names = fs.list(folder).value();
  for (const std::string& name : names) found[name] = io::read_file(fs, folder + "/" + name, 1U << 20U).value();
  return found;
}

class RecoveryTest : public testing::Test {
 protected:
  static constexpr int batch_count = 12;

  RecoveryTest() {
    options_.index_interval_bytes = 150;
    options_.segments.bytes = 3 * make_batch(0, 3).data.size();
    log_harness harness(fs_);
    EXPECT_TRUE(harness.open(options_));
    for (std::int64_t i = 0; i < batch_count; ++i) {
      batches_.push_back(make_batch(i * 3, 3, 20, static_cast<std::int32_t>(i / 5)));
      harness.log->append(batches_.back());
    }
    EXPECT_TRUE(harness.drain());
    put("leader-epoch-checkpoint", "not ours");
    put("00000000000000000003.txnindex", "not ours");
    put("00000000000000000003.log.tmp", "not ours");
  }

  void put(const std::string& name, std::string_view content) {
    EXPECT_TRUE(fs_.open(folder + "/" + name, io::open_mode::create).value()->write_at(0, as_byte_view(content)));
  }

  // The log after `open` and after appending the rest again must not differ from one that was never cut.
  void check_reopened(io::file_system& fs, std::size_t kept) {
    log_harness harness(fs);
    const auto opened = harness.open(options_, static_cast<std::int64_t>(kept) * 3);
    ASSERT_TRUE(opened) << opened.error().to_string();
    EXPECT_EQ(harness.log->end_offset().value(), static_cast<std::int64_t>(kept) * 3);
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < kept; ++i) size += batches_[i].data.size();
    EXPECT_EQ(harness.log->size_bytes(), size);
    EXPECT_EQ(harness.log->pending_bytes(), 0U);
    EXPECT_EQ(harness.read(0, no_limit, 1U << 20U)->size(), kept);
    for (std::size_t i = kept; i < batches_.size(); ++i) harness.log->append(batches_[i]);
    ASSERT_TRUE(harness.drain());
    const auto all = harness.read(0, no_limit, 1U << 20U);
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), batches_.size());
    for (std::size_t i = 0; i < all->size(); ++i) EXPECT_EQ((*all)[i], batches_[i].data);
  }

  sim::sim_file_system fs_;
  log_options options_{.cache_bytes = 0};
  std::vector<stored_batch> batches_;
};

TEST_F(RecoveryTest, KeepsExactlyWhatIsBelowEachBatchBoundary) {
  const tree before = files_of(fs_);
  for (std::size_t kept = 0; kept <= batch_count; ++kept) {
    SCOPED_TRACE(kept);
    const auto twin = fs_.copy(1);
    check_reopened(*twin, kept);
    EXPECT_EQ(files_of(*twin), before) << "the same bytes in all files, indexes and files of others too";
  }
}

TEST_F(RecoveryTest, KeepingNothingRemovesOurFilesAndNoOther) {
  log_harness harness(fs_);
  ASSERT_TRUE(harness.open(options_, 0));
  EXPECT_EQ(fs_.list(folder).value(),
            (std::vector<std::string>{"00000000000000000003.log.tmp", "00000000000000000003.txnindex",
                                      "leader-epoch-checkpoint"}));
}

TEST_F(RecoveryTest, ACrashAtEachOperationAndARepetitionComeToTheSame) {
  const tree before = files_of(fs_);
  int crashes = 0;
  for (std::size_t kept = 0; kept <= batch_count; kept += 2) {
    for (std::uint64_t n = 1;; ++n) {
      const auto twin = fs_.copy(n);
      twin->crash_after(n);
      log_harness doomed(*twin);
      const bool finished = doomed.open(options_, static_cast<std::int64_t>(kept) * 3).has_value();
      if (finished) break;
      ++crashes;
      ASSERT_LT(n, 100U);
      twin->kill_process();
      check_reopened(*twin, kept);
      EXPECT_EQ(files_of(*twin), before) << kept << " kept, crash at operation " << n;
    }
  }
  EXPECT_GT(crashes, 40) << "the test must have something to crash";
}

TEST_F(RecoveryTest, APowerCutDuringTheCutLosesNothingThatWasSynced) {
  // What a checkpoint vouches for is synced; here the first seven batches and their names.
  const std::size_t kept = 7;
  const auto names = fs_.list(folder).value();
  for (const std::string& name : names) {
    ASSERT_TRUE(fs_.open(folder + "/" + name, io::open_mode::read_write).value()->sync_data());
  }
  ASSERT_TRUE(fs_.sync_directory(folder));
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const auto twin = fs_.copy(seed);
    sim::rng chance(seed);
    {
      log_harness harness(*twin);
      twin->crash_after(1 + chance.below(12));
      if (harness.open(options_, static_cast<std::int64_t>(kept) * 3)) {
        for (std::size_t i = kept; i < batches_.size(); ++i) harness.log->append(batches_[i]);
        harness.loop.run_until_idle();
      }
    }
    twin->power_cut(chance);
    check_reopened(*twin, kept);
    if (HasFailure()) return;
  }
}

TEST_F(RecoveryTest, RefusesAnOffsetInsideABatchAndRemovesNothing) {
  const tree before = files_of(fs_);
  for (const std::int64_t keep_below : {1, 2, 10, 35}) {
    log_harness harness(fs_);
    EXPECT_EQ(harness.open(options_, keep_below).error().code, errc::corrupt) << keep_below;
    EXPECT_EQ(files_of(fs_), before);
  }
}

TEST_F(RecoveryTest, RefusesMissingBytesAndRemovesNothing) {
  const auto expect_refused = [&](const std::string& what, auto&& damage) {
    const auto twin = fs_.copy(1);
    damage(*twin);
    const tree before = files_of(*twin);
    log_harness harness(*twin);
    const auto opened = harness.open(options_, 30);
    ASSERT_FALSE(opened) << what;
    EXPECT_EQ(opened.error().code, errc::corrupt) << what;
    EXPECT_NE(opened.error().message.find(folder), std::string::npos) << opened.error().message;
    EXPECT_EQ(files_of(*twin), before) << what;
  };
  expect_refused("the log is shorter", [](auto& fs) {
    ASSERT_TRUE(fs.remove(folder + "/00000000000000000027.log"));
    ASSERT_TRUE(fs.remove(folder + "/00000000000000000018.log"));
  });
  expect_refused("a segment in the middle is missing",
                 [](auto& fs) { ASSERT_TRUE(fs.remove(folder + "/00000000000000000009.log")); });
  expect_refused("a segment ends inside a batch", [](auto& fs) {
    auto file = fs.open(folder + "/00000000000000000009.log", io::open_mode::read_write).value();
    ASSERT_TRUE(file->truncate(file->size().value() - 1));
  });
  expect_refused("a segment ends inside a header", [](auto& fs) {
    ASSERT_TRUE(fs.open(folder + "/00000000000000000009.log", io::open_mode::read_write).value()->truncate(60));
  });
  expect_refused("a segment is empty", [](auto& fs) {
    ASSERT_TRUE(fs.open(folder + "/00000000000000000009.log", io::open_mode::read_write).value()->truncate(0));
  });
  expect_refused("a segment has the name of another", [](auto& fs) {
    ASSERT_TRUE(fs.rename(folder + "/00000000000000000018.log", folder + "/00000000000000000009.log"));
  });
}

TEST_F(RecoveryTest, DamageAboveTheCutIsCutAway) {
  const auto last = folder + "/00000000000000000018.log";
  fs_.flip_bits(last, make_batch(18, 3).data.size() + 5, 0xff);
  ASSERT_TRUE(fs_.open(folder + "/00000000000000000027.log", io::open_mode::read_write).value()->truncate(7));
  check_reopened(fs_, 7);
}

TEST_F(RecoveryTest, IndexFilesAreRebuiltFromTheBatches) {
  const tree before = files_of(fs_);
  put("00000000000000000000.index", "garbage that is longer than the index was before, by far");
  put("00000000000000000009.timeindex", "x");
  ASSERT_TRUE(fs_.remove(folder + "/00000000000000000018.index"));
  put("00000000000000000010.index", "of no segment");
  log_harness harness(fs_);
  ASSERT_TRUE(harness.open(options_, batch_count * 3));
  EXPECT_EQ(files_of(fs_), before);
}

TEST_F(RecoveryTest, ACleanStartWritesNothing) {
  const auto before = fs_.operations();
  log_harness harness(fs_);
  ASSERT_TRUE(harness.open(options_, batch_count * 3));
  EXPECT_EQ(fs_.operations().total(), before.total());
}

TEST_F(RecoveryTest, OfAnEmptyFolderKeepsNothing) {
  sim::sim_file_system empty;
  log_harness harness(empty);
  EXPECT_EQ(harness.open(options_, 5).error().code, errc::corrupt);
  EXPECT_TRUE(harness.open(options_, 0));
}

}  // namespace
}  // namespace braidmq::storage
