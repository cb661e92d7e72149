// Opening a log by what a checkpoint remembers of it.
#include <map>

#include "log_fixture.hpp"
#include "storage/format.hpp"

namespace braidmq::storage {
namespace {

const std::string folder = "/data/topic-0";

class RestoreTest : public testing::Test {
 protected:
  static constexpr std::size_t batch_count = 12;

  RestoreTest() {
    options_.index_interval_bytes = 150;
    options_.segments.bytes = 4 * make_batch(0, 3).data.size();
    for (std::size_t i = 0; i < batch_count; ++i) {
      batches_.push_back(make_batch(static_cast<std::int64_t>(i) * 3, 3, 20, static_cast<std::int32_t>(i / 5)));
    }
  }

  // A log of all batches, pinned after `at` of them; everything is written, and the pin is synced when asked.
  log_manifest write(io::file_system& fs, std::size_t at, bool synced = true) {
    log_harness harness(fs);
    EXPECT_TRUE(harness.open(options_));
    for (std::size_t i = 0; i < at; ++i) harness.log->append(batches_[i]);
    log_pin pinned = harness.log->pin();
    EXPECT_TRUE(harness.drain());
    if (synced) {
      for (auto& sync : pinned.syncs) EXPECT_TRUE(sync());
    }
    for (std::size_t i = at; i < batch_count; ++i) harness.log->append(batches_[i]);
    EXPECT_TRUE(harness.drain());
    return pinned.manifest;
  }

  status open(io::file_system& fs, log_harness& harness, const log_manifest& manifest) {
    auto opened = partition_log::open(fs, harness.disk, harness.owner, folder, options_, manifest, harness.callbacks());
    if (!opened) return tl::unexpected<error>(opened.error());
    harness.log = std::move(*opened);
    return {};
  }

  // As it was at the pin, and the rest can be appended once more.
  void check(io::file_system& fs, const log_manifest& manifest, std::size_t at) {
    log_harness harness(fs);
    const auto opened = open(fs, harness, manifest);
    ASSERT_TRUE(opened) << opened.error().to_string();
    EXPECT_EQ(harness.log->end_offset().value(), static_cast<std::int64_t>(at) * 3);
    EXPECT_EQ(harness.read(0, no_limit, 1U << 20U)->size(), at);
    for (std::size_t i = at; i < batch_count; ++i) harness.log->append(batches_[i]);
    ASSERT_TRUE(harness.drain());
    const auto all = harness.read(0, no_limit, 1U << 20U);
    ASSERT_TRUE(all) << all.error().to_string();
    ASSERT_EQ(all->size(), batch_count);
    for (std::size_t i = 0; i < batch_count; ++i) EXPECT_EQ((*all)[i], batches_[i].data);
    for (std::size_t i = 0; i < batch_count; ++i) {
      const auto found = harness.find(batches_[i].max_timestamp_ms, no_limit);
      ASSERT_TRUE(found && found->has_value());
      EXPECT_EQ((*found)->offset, batches_[i].base);
    }
  }

  std::map<std::string, bytes> files(io::file_system& fs) {
    std::map<std::string, bytes> found;
    const auto names = fs.list(folder).value();
    for (const std::string& name : names) {
      found[name] = io::read_file(fs, folder + "/" + name, 1U << 20U).value();
    }
    return found;
  }

  sim::sim_file_system fs_;
  log_options options_{.cache_bytes = 0};
  std::vector<stored_batch> batches_;
};

TEST_F(RestoreTest, ComesBackToEachPinAfterTheProcessWasKilled) {
  for (std::size_t at = 0; at <= batch_count; ++at) {
    SCOPED_TRACE(at);
    sim::sim_file_system fs;
    const log_manifest manifest = write(fs, at);
    const auto before = files(fs);
    fs.kill_process();
    check(fs, manifest, at);
    EXPECT_EQ(files(fs), before) << "the same bytes in all files";
  }
}

TEST_F(RestoreTest, ComesBackToEachPinAfterAPowerCut) {
  for (std::size_t at = 0; at <= batch_count; ++at) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(fmt::format("{} batches, seed {}", at, seed));
      sim::sim_file_system fs(seed);
      const log_manifest manifest = write(fs, at);
      sim::rng chance(seed);
      fs.power_cut(chance);
      check(fs, manifest, at);
    }
  }
}

TEST_F(RestoreTest, ALogWithoutAByteHasNoFolder) {
  const log_manifest manifest{model::offset(7), model::offset(7), {}, {}};
  {
    log_harness harness(fs_);
    ASSERT_TRUE(open(fs_, harness, manifest));
    EXPECT_EQ(harness.log->start_offset().value(), 7);
    EXPECT_EQ(harness.log->end_offset().value(), 7);
    EXPECT_FALSE(*fs_.exists(folder));
    harness.log->append(make_batch(7, 3));
    ASSERT_TRUE(harness.drain());
  }
  // What was written after the checkpoint is made again.
  fs_.kill_process();
  log_harness harness(fs_);
  ASSERT_TRUE(open(fs_, harness, manifest));
  EXPECT_FALSE(*fs_.exists(folder));
  harness.log->append(make_batch(7, 3));
  ASSERT_TRUE(harness.drain());
  EXPECT_EQ(harness.read(7, no_limit, 1U << 20U)->size(), 1U);
}

TEST_F(RestoreTest, WithoutTheSyncsAPowerCutIsFound) {
  const log_manifest manifest = write(fs_, batch_count, false);
  sim::rng chance(1);
  fs_.power_cut(chance, sim::power_cut_options::only_synced());
  log_harness harness(fs_);
  EXPECT_FALSE(open(fs_, harness, manifest));
}

TEST_F(RestoreTest, ReadsNoBatchWhenTheIndexesAreWhole) {
  const log_manifest manifest = write(fs_, 8);
  fs_.kill_process();
  fs_.fail_next(sim::operation::read, "*.log", io::errc::device_error, 0, 1000);
  log_harness harness(fs_);
  EXPECT_TRUE(open(fs_, harness, manifest));
}

TEST_F(RestoreTest, AnIndexThatIsDamagedOrGoneIsMadeAnew) {
  const log_manifest manifest = write(fs_, 8);
  const auto before = files(fs_);
  fs_.kill_process();
  int damaged = 0;
  for (const auto& [name, content] : before) {
    if (!name.ends_with("index") || content.empty()) continue;
    SCOPED_TRACE(name);
    for (const bool removed : {false, true}) {
      const auto twin = fs_.copy(1);
      if (removed)
        ASSERT_TRUE(twin->remove(folder + "/" + name));
      else
        twin->flip_bits(folder + "/" + name, content.size() / 2, 0x40);
      check(*twin, manifest, 8);
      ++damaged;
    }
  }
  EXPECT_GE(damaged, 4);
}

TEST_F(RestoreTest, ASegmentThatIsTooShortOrGoneIsRefusedAndNothingIsRemoved) {
  const log_manifest manifest = write(fs_, 10);
  ASSERT_GE(manifest.segments.size(), 3U);
  fs_.kill_process();
  for (const segment_manifest& one : manifest.segments) {
    const std::string path = folder + "/" + segment_file(one.base, file_kind::log);
    const auto cut = fs_.copy(1);
    ASSERT_TRUE(cut->open(path, io::open_mode::read_write).value()->truncate(one.size_bytes - 1));
    const auto before = files(*cut).size();
    log_harness harness(*cut);
    const auto opened = open(*cut, harness, manifest);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::corrupt);
    EXPECT_NE(opened.error().message.find(path), std::string::npos) << opened.error().message;
    EXPECT_EQ(files(*cut).size(), before);
    const auto gone = fs_.copy(1);
    ASSERT_TRUE(gone->remove(path));
    log_harness other(*gone);
    EXPECT_FALSE(open(*gone, other, manifest));
  }
}

TEST_F(RestoreTest, DamageOfABatchIsFoundWhenItIsRead) {
  const log_manifest manifest = write(fs_, 8);
  fs_.kill_process();
  fs_.flip_bits(folder + "/" + segment_file(model::offset(0), file_kind::log), 70, 0x01);
  log_harness harness(fs_);
  ASSERT_TRUE(open(fs_, harness, manifest));
  const auto read = harness.read(0, no_limit, 1U << 20U);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, errc::corrupt);
}

// What is appended again is what was there: nothing is cut before, and nothing is left to be cut after.
TEST_F(RestoreTest, FilesAreNotCutWhenTheSameIsAppendedAgain) {
  const log_manifest manifest = write(fs_, 6);
  const auto before = files(fs_);
  fs_.kill_process();
  const auto truncates = fs_.operations().truncates;
  log_harness harness(fs_);
  ASSERT_TRUE(open(fs_, harness, manifest));
  EXPECT_EQ(files(fs_).at("00000000000000000012.log").size(), before.at("00000000000000000012.log").size());
  for (std::size_t i = 6; i < batch_count; ++i) harness.log->append(batches_[i]);
  harness.log->cut_leftovers();
  harness.loop.run_until_idle();
  EXPECT_EQ(fs_.operations().truncates, truncates);
  EXPECT_EQ(files(fs_), before);
}

// Here the log does not bring everything back, as one would whose tail was lost.
TEST_F(RestoreTest, WhatIsLeftOverIsCutWhenItIsSaid) {
  for (std::size_t again = 0; again < 2; ++again) {
    for (const bool drained : {false, true}) {
      SCOPED_TRACE(fmt::format("{} batches again, {}", again, drained ? "drained" : "pending"));
      sim::sim_file_system fs;
      const log_manifest manifest = write(fs, 5);
      fs.kill_process();
      log_harness harness(fs);
      ASSERT_TRUE(open(fs, harness, manifest));
      if (again > 0) harness.log->append(batches_[5]);
      if (drained) ASSERT_TRUE(harness.drain());
      harness.log->cut_leftovers();
      harness.loop.run_until_idle();
      EXPECT_TRUE(harness.failures.empty());
      const segment_manifest last = harness.log->pin().manifest.segments.back();
      const auto after = files(fs);
      const auto size_of = [&](file_kind kind) { return after.at(segment_file(last.base, kind)).size(); };
      EXPECT_EQ(size_of(file_kind::log), last.size_bytes);
      EXPECT_EQ(size_of(file_kind::offset_index), last.index_entries * offset_index_entry_bytes);
      EXPECT_EQ(size_of(file_kind::time_index), last.index_entries * time_index_entry_bytes);
      // It goes on from there.
      for (std::size_t i = 5 + again; i < batch_count; ++i) harness.log->append(batches_[i]);
      ASSERT_TRUE(harness.drain());
      EXPECT_EQ(harness.read(0, no_limit, 1U << 20U)->size(), batch_count);
    }
  }
}

// Also when nothing more goes into it.
TEST_F(RestoreTest, ASegmentThatEndsEarlierNowIsCutWhenItIsComplete) {
  const auto bounds = options_.segments;
  for (std::size_t at = 5; at <= 7; ++at) {
    SCOPED_TRACE(at);
    sim::sim_file_system fs;
    options_.segments = bounds;
    const log_manifest manifest = write(fs, at);
    fs.kill_process();
    options_.segments.bytes = 2 * batches_[0].data.size();
    log_harness harness(fs);
    ASSERT_TRUE(open(fs, harness, manifest));
    for (std::size_t i = at; i < batch_count; ++i) harness.log->append(batches_[i]);
    ASSERT_TRUE(harness.drain());
    const log_manifest now = harness.log->pin().manifest;
    const auto after = files(fs);
    for (const segment_manifest& one : now.segments) {
      SCOPED_TRACE(one.base.value());
      EXPECT_EQ(after.at(segment_file(one.base, file_kind::log)).size(), one.size_bytes);
      for (const auto& [kind, entry_bytes] : {std::pair(file_kind::offset_index, offset_index_entry_bytes),
                                              std::pair(file_kind::time_index, time_index_entry_bytes)}) {
        const auto index = after.find(segment_file(one.base, kind));
        EXPECT_EQ(index == after.end() ? 0U : index->second.size(), one.index_entries * entry_bytes);
      }
    }
    EXPECT_EQ(harness.read(0, no_limit, 1U << 20U)->size(), batch_count);
  }
}

TEST_F(RestoreTest, LeftoversThatCannotBeCutEndTheLog) {
  const log_manifest manifest = write(fs_, 5);
  fs_.kill_process();
  log_harness harness(fs_);
  ASSERT_TRUE(open(fs_, harness, manifest));
  fs_.fail_next(sim::operation::truncate, "*", io::errc::device_error);
  harness.log->cut_leftovers();
  harness.loop.run_until_idle();
  EXPECT_EQ(harness.failures.size(), 1U);
}

// A start that is cut short at any of its operations, by the power or by a kill, leaves what the checkpoint needs.
TEST_F(RestoreTest, ComesBackWhereverTheNextLifeIsCutShort) {
  constexpr std::size_t at = 5;
  for (const bool power : {false, true}) {
    for (std::uint64_t operation = 1;; ++operation) {
      SCOPED_TRACE(fmt::format("{} at operation {}", power ? "power cut" : "kill", operation));
      sim::sim_file_system fs(operation);
      const log_manifest manifest = write(fs, at);
      sim::rng chance(operation);
      if (power)
        fs.power_cut(chance);
      else
        fs.kill_process();
      fs.crash_after(operation);
      {
        // Segments end elsewhere in this life, so that there is something to cut.
        const segment_bounds bounds = options_.segments;
        if (operation % 2 == 0) options_.segments.bytes = 3 * batches_[0].data.size();
        log_harness harness(fs);
        if (open(fs, harness, manifest)) {
          for (std::size_t i = at; i < batch_count; ++i) {
            harness.log->append(batches_[i]);
            if (i == at + 2) harness.log->cut_leftovers();
            harness.loop.run_until_idle();
          }
        }
        options_.segments = bounds;
      }
      const bool cut_short = fs.crashed();
      if (power)
        fs.power_cut(chance);
      else
        fs.kill_process();
      check(fs, manifest, at);
      if (!cut_short) break;
    }
  }
}

TEST_F(RestoreTest, OnlyWhatChangedIsSyncedAgain) {
  log_harness harness(fs_);
  ASSERT_TRUE(harness.open(options_));
  for (const stored_batch& batch : batches_) harness.log->append(batch);
  EXPECT_EQ(harness.log->pin().syncs.size(), 1 + (batch_count + 3) / 4);
  EXPECT_TRUE(harness.log->pin().syncs.empty());
  harness.log->append(make_batch(36, 3, 20, 2));
  EXPECT_EQ(harness.log->pin().syncs.size(), 3U) << "its segment, the one that it closed, and the folder";
  harness.log->append(make_batch(39, 1, 20, 2));
  EXPECT_EQ(harness.log->pin().syncs.size(), 1U) << "its segment, whose name is durable already";
}

TEST_F(RestoreTest, ANameThatACheckpointSpeaksOfIsNotSyncedAgain) {
  const log_manifest manifest = write(fs_, 7);
  log_harness harness(fs_);
  ASSERT_TRUE(open(fs_, harness, manifest));
  harness.log->append(batches_[7]);
  EXPECT_EQ(harness.log->pin().syncs.size(), 1U) << "the segment that goes on";
  harness.log->append(batches_[8]);
  EXPECT_EQ(harness.log->pin().syncs.size(), 3U) << "a new segment, the one that it closed, and the folder";
}

}  // namespace
}  // namespace braidmq::storage
