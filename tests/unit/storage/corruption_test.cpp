// X5: wrong bytes are never served. Every bit of a log on disk is a target; a read gives the right bytes or an error.
#include "log_fixture.hpp"

namespace braidmq::storage {
namespace {

template <class T>
std::error_code code_of(const result<T>& got) {
  return got ? std::error_code() : got.error().code;
}

class CorruptionTest : public testing::Test {
 protected:
  CorruptionTest() {
    const log_options options{.index_interval_bytes = 200, .cache_bytes = 0};
    EXPECT_TRUE(harness_.open(options));
    for (std::int64_t i = 0; i < 8; ++i) {
      batches_.push_back(make_batch(i * 2, {1000 + i, 1000 + i}, 30, static_cast<std::int32_t>(i / 3)));
      harness_.log->append(batches_.back());
    }
    EXPECT_TRUE(harness_.drain());
  }

  const std::string path_ = "/data/topic-0/00000000000000000000.log";
  sim::sim_file_system fs_;
  log_harness harness_{fs_};
  std::vector<stored_batch> batches_;
};

TEST_F(CorruptionTest, OfAnyByteIsNeverServed) {
  const std::uint64_t size = harness_.log->size_bytes();
  sim::rng chance(3);
  int refused = 0;
  for (std::uint64_t position = 0; position < size; ++position) {
    const auto mask = static_cast<std::uint8_t>(1U << chance.below(8));
    fs_.flip_bits(path_, position, mask);
    EXPECT_EQ(code_of(harness_.read(0, no_limit, 1U << 20U)), errc::corrupt) << position;
    const std::int64_t from = 2 * static_cast<std::int64_t>(chance.below(batches_.size()));
    const auto got = harness_.read(from, no_limit, 1);
    if (got) {
      ASSERT_EQ(got->size(), 1U);
      EXPECT_EQ((*got)[0], batches_[static_cast<std::size_t>(from / 2)].data) << position << " from " << from;
    } else {
      EXPECT_EQ(got.error().code, errc::corrupt);
      ++refused;
    }
    fs_.flip_bits(path_, position, mask);
  }
  EXPECT_GT(refused, 0) << "some of the single reads met the damage";
  EXPECT_TRUE(harness_.read(0, no_limit, 1U << 20U));
}

TEST_F(CorruptionTest, NeverMakesASearchByTimeWrong) {
  const std::uint64_t size = harness_.log->size_bytes();
  sim::rng chance(4);
  int refused = 0;
  for (std::uint64_t position = 0; position < size; ++position) {
    const auto mask = static_cast<std::uint8_t>(1U << chance.below(8));
    fs_.flip_bits(path_, position, mask);
    const std::int64_t wanted = chance.between(0, 7);
    const auto found = harness_.find(1000 + wanted, no_limit);
    if (found) {
      ASSERT_TRUE(*found);
      EXPECT_EQ((*found)->offset.value(), wanted * 2);
    } else {
      EXPECT_EQ(found.error().code, errc::corrupt);
      ++refused;
    }
    fs_.flip_bits(path_, position, mask);
  }
  EXPECT_GT(refused, 0);
}

TEST_F(CorruptionTest, OfALengthAsksForNoMoreThanTheLargestBatch) {
  // The highest byte of a length would ask for gigabytes; the bound turns it down before anything is read.
  fs_.flip_bits(path_, model::batch_layout::batch_length, 0x40);
  const auto got = harness_.read(0, no_limit, 1);
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("batch of 107374"), std::string::npos) << got.error().message;
  EXPECT_NE(got.error().message.find(path_ + " at position 0 (offset 0)"), std::string::npos) << got.error().message;
}

TEST_F(CorruptionTest, BatchesThatChangePlacesAreNoticed) {
  // Each batch is sound by itself and of the same size: only its place is wrong.
  const std::size_t size = batches_[1].data.size();
  ASSERT_EQ(size, batches_[2].data.size());
  const auto file = fs_.open(path_, io::open_mode::read_write).value();
  ASSERT_TRUE(file->write_at(size, batches_[2].data.view()));
  ASSERT_TRUE(file->write_at(2 * size, batches_[1].data.view()));
  for (const std::int64_t from : {0, 2, 4}) {
    EXPECT_EQ(code_of(harness_.read(from, no_limit, 1U << 20U)), errc::corrupt) << from;
  }
}

TEST_F(CorruptionTest, AFileThatLostItsEndIsNotTheEndOfTheLog) {
  ASSERT_TRUE(fs_.open(path_, io::open_mode::read_write).value()->truncate(harness_.log->size_bytes() - 1));
  EXPECT_EQ(code_of(harness_.read(14, no_limit, 1000)), errc::corrupt);
}

TEST_F(CorruptionTest, IsFoundByTheNextStart) {
  sim::rng chance(5);
  for (std::uint64_t position = 0; position < harness_.log->size_bytes(); position += 7) {
    const std::uint64_t in_batch = position % batches_[0].data.size();
    // A leader epoch is vouched for by nothing in the file; the checkpoint's hash of the partition covers it.
    if (in_batch >= model::batch_layout::partition_leader_epoch && in_batch < model::batch_layout::magic) continue;
    const auto twin = fs_.copy(position);
    twin->flip_bits(path_, position, static_cast<std::uint8_t>(1U << chance.below(8)));
    log_harness harness(*twin);
    EXPECT_EQ(code_of(harness.open({}, 16)), errc::corrupt) << position;
  }
}

}  // namespace
}  // namespace braidmq::storage
