#include "storage/inspect.hpp"

#include "log_fixture.hpp"

namespace braidmq::storage {
namespace {

struct seen_segment final : segment_visitor {
  void on_segment(const std::string&, std::uint64_t size_bytes) override { size = size_bytes; }
  void on_batch(std::uint64_t position, const model::batch_header& header, bool crc_matches) override {
    batches.emplace_back(position, header.base_offset.value());
    if (!crc_matches) ++wrong_crcs;
  }
  void on_damage(const std::string& path, std::uint64_t position, const std::string& what) override {
    damage.push_back(fmt::format("{}@{}: {}", path.substr(path.rfind('.')), position, what));
  }
  void on_end(const std::string&, const segment_summary& told) override { summary = told; }

  std::uint64_t size = 0;
  std::vector<std::pair<std::uint64_t, std::int64_t>> batches;
  int wrong_crcs = 0;
  std::vector<std::string> damage;
  segment_summary summary;
};

class InspectTest : public testing::Test {
 protected:
  InspectTest() {
    EXPECT_TRUE(harness_.open({.index_interval_bytes = 200, .cache_bytes = 0}));
    for (std::int64_t i = 0; i < 20; ++i) {
      const auto batch = make_batch(i * 2, {2000 - i, 1500 + 100 * (i % 3)}, 30);
      size_ = batch.data.size();
      harness_.log->append(batch);
    }
    EXPECT_TRUE(harness_.drain());
  }

  seen_segment look(const std::string& name = "00000000000000000000.log", std::optional<bool> sound = {}) {
    seen_segment seen;
    const auto said = inspect_segment(fs_, "/data/topic-0/" + name, seen);
    EXPECT_TRUE(said) << said.error().to_string();
    if (said) {
      EXPECT_EQ(*said, seen.damage.empty());
      if (sound) EXPECT_EQ(*said, *sound);
    }
    return seen;
  }
  std::unique_ptr<io::file> file(const std::string& extension) {
    return *fs_.open("/data/topic-0/00000000000000000000" + extension, io::open_mode::read_write);
  }
  void put(const std::string& extension, std::uint64_t position, const std::string& data) {
    ASSERT_TRUE(file(extension)->write_at(position, as_byte_view(data)));
  }

  sim::sim_file_system fs_;
  log_harness harness_{fs_};
  std::size_t size_ = 0;
};

TEST_F(InspectTest, AWrittenSegmentIsSound) {
  const seen_segment seen = look({"00000000000000000000.log"}, true);
  ASSERT_EQ(seen.batches.size(), 20U);
  EXPECT_EQ(seen.batches[3].second, 6);
  EXPECT_EQ(seen.summary.end, model::offset(40));
  EXPECT_EQ(seen.summary.bytes, seen.size);
  EXPECT_GT(seen.summary.offset_index_entries.value(), 3U);
  EXPECT_EQ(seen.summary.offset_index_entries, seen.summary.time_index_entries);
}

TEST_F(InspectTest, ABatchWithAWrongCrcIsToldAndTheOthersFollow) {
  fs_.flip_bits("/data/topic-0/00000000000000000000.log", 3 * size_ + 70, 1);
  const seen_segment seen = look();
  EXPECT_EQ(seen.batches.size(), 20U);
  EXPECT_EQ(seen.wrong_crcs, 1);
  ASSERT_EQ(seen.damage.size(), 1U);
  EXPECT_EQ(seen.damage[0], fmt::format(".log@{}: the CRC of the batch does not match", 3 * size_));
}

TEST_F(InspectTest, AnOffsetThatIsNotNextIsTold) {
  fs_.flip_bits("/data/topic-0/00000000000000000000.log", 3 * size_ + 6, 1);  // of the base offset, beyond the CRC
  const seen_segment seen = look();
  ASSERT_GE(seen.damage.size(), 2U) << "it, the one behind it, perhaps an index";
  EXPECT_EQ(seen.damage[0], fmt::format(".log@{}: the batch begins at offset 262 and not at 6", 3 * size_));
}

TEST_F(InspectTest, AnEndInsideABatchIsTold) {
  ASSERT_TRUE(file(".log")->truncate(20 * size_ - 5));
  EXPECT_EQ(look().damage.at(0),
            fmt::format(".log@{}: the file ends inside a batch: {} of {} bytes", 19 * size_, size_ - 5, size_));
  ASSERT_TRUE(file(".log")->truncate(19 * size_ + 3));
  EXPECT_EQ(look().damage.at(0),
            fmt::format(".log@{}: the file ends inside the header of a batch, after 3 bytes", 19 * size_));
  put(".log", 0, std::string(61, '\0'));
  const seen_segment nothing = look();
  EXPECT_TRUE(nothing.batches.empty());
  ASSERT_EQ(nothing.damage.size(), 1U) << "what cannot be read proves nothing about the indexes";
}

TEST_F(InspectTest, IndexesAreHeldAgainstTheBatches) {
  fs_.flip_bits("/data/topic-0/00000000000000000000.index", 8 + 7, 1);
  EXPECT_NE(look().damage.at(0).find(".index@8: offset "), std::string::npos) << look().damage.at(0);
  fs_.flip_bits("/data/topic-0/00000000000000000000.index", 8 + 7, 1);
  fs_.flip_bits("/data/topic-0/00000000000000000000.index", 8 + 3, 1);
  EXPECT_EQ(look().damage.back(), ".index@8: no batch begins at offset 9");
  fs_.flip_bits("/data/topic-0/00000000000000000000.index", 8 + 3, 1);
  fs_.flip_bits("/data/topic-0/00000000000000000000.timeindex", 12 + 7, 1);
  EXPECT_NE(look().damage.at(0).find(".timeindex@12: the highest timestamp below"), std::string::npos);
  fs_.flip_bits("/data/topic-0/00000000000000000000.timeindex", 12 + 7, 1);
  const std::uint64_t size = *file(".index")->size();
  put(".index", size, std::string("\0\0\1\0\0\0\0\0", 8));
  EXPECT_EQ(look().damage.at(0), fmt::format(".index@{}: no batch begins where this entry says", size));
  ASSERT_TRUE(file(".index")->truncate(size - 3));
  EXPECT_NE(look().damage.at(0).find("the file ends inside an entry"), std::string::npos);
  ASSERT_TRUE(file(".index")->truncate(8));
  EXPECT_NE(look().damage.at(0).find(".timeindex@12: the offset index has no entry"), std::string::npos);
}

TEST_F(InspectTest, WithoutIndexesOrNameTheBatchesAreStillLookedAt) {
  ASSERT_TRUE(fs_.remove("/data/topic-0/00000000000000000000.index"));
  EXPECT_FALSE(look({"00000000000000000000.log"}, true).summary.offset_index_entries);
  ASSERT_TRUE(fs_.rename("/data/topic-0/00000000000000000000.log", "/data/topic-0/copy"));
  EXPECT_EQ(look("copy", true).batches.size(), 20U);
  seen_segment none;
  EXPECT_FALSE(inspect_segment(fs_, "/data/topic-0/00000000000000000000.log", none));
}

TEST_F(InspectTest, AnyBytesAreReadWithoutHarm) {
  sim::rng chance(11);
  for (int round = 0; round < 300; ++round) {
    for (const char* extension : {".log", ".index", ".timeindex"}) {
      std::string noise(chance.below(300), '\0');
      for (char& c : noise) c = static_cast<char>(chance.below(chance.chance(0.5) ? 3 : 256));
      put(extension, chance.below(1000), noise);
    }
    look();
  }
}

}  // namespace
}  // namespace braidmq::storage
