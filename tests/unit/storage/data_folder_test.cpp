#include "storage/data_folder.hpp"

#include <gtest/gtest.h>

#include "support/sim_file_system.hpp"

namespace braidmq::storage {
namespace {

class counting_random final : public io::random_source {
 public:
  void fill(mutable_byte_view target) override {
    for (std::byte& byte : target) byte = static_cast<std::byte>(++last_);
  }

 private:
  unsigned last_ = 0;
};

class DataFolderTest : public ::testing::Test {
 protected:
  result<data_folders> open(sim::sim_file_system& fs, int broker = 0) {
    return data_folders::open(fs, random_, {"/data", wal_dir_, model::broker_id(broker), may_form_});
  }
  // The whole content, to see that a refusal changed nothing.
  std::uint64_t operations() const { return fs_.operations().total(); }
  void write(const std::string& folder, const std::string& name) {
    ASSERT_TRUE(fs_.make_directories(folder));
    ASSERT_TRUE(io::write_file_atomically(fs_, folder + "/" + name, as_byte_view("x")));
  }

  static void empty(sim::sim_file_system& fs, const std::string& folder) {
    const std::vector<std::string> names = fs.list(folder).value();
    for (const std::string& name : names) ASSERT_TRUE(fs.remove(folder + "/" + name));
  }

  sim::sim_file_system fs_;
  counting_random random_;
  std::string wal_dir_ = "/data/wal";
  bool may_form_ = true;
};

TEST_F(DataFolderTest, FormatsEmptyFoldersAndFindsItsLifeAgain) {
  const auto first = open(fs_);
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_TRUE(first->formatted_now());
  const uuid life = first->incarnation();
  fs_.kill_process();
  const auto second = open(fs_);
  ASSERT_TRUE(second) << second.error().to_string();
  EXPECT_FALSE(second->formatted_now());
  EXPECT_EQ(second->incarnation(), life);
}

TEST_F(DataFolderTest, ASecondProcessIsRefusedWhileTheFirstLives) {
  const auto first = open(fs_);
  ASSERT_TRUE(first);
  const auto second = open(fs_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, io::errc::busy);
}

TEST_F(DataFolderTest, AForeignFolderIsRefusedAndNothingChanges) {
  write("/data", "photos.zip");
  const std::uint64_t before = operations();
  const auto opened = open(fs_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, folder_errc::foreign);
  EXPECT_NE(opened.error().message.find("photos.zip"), std::string::npos) << opened.error().message;
  EXPECT_EQ(operations(), before);
}

TEST_F(DataFolderTest, AForeignWalFolderIsRefused) {
  wal_dir_ = "/wal";
  write("/wal", "x.sqlite");
  const auto opened = open(fs_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, folder_errc::foreign);
  EXPECT_FALSE(fs_.exists("/data").value()) << "nothing is made before everything is checked";
}

TEST_F(DataFolderTest, ALostVolumeIsNamed) {
  wal_dir_ = "/wal";
  ASSERT_TRUE(open(fs_));
  fs_.kill_process();
  const auto lost_wal = fs_.copy(2);
  empty(*lost_wal, "/wal");
  const auto without_wal = open(*lost_wal);
  ASSERT_FALSE(without_wal);
  EXPECT_EQ(without_wal.error().code, folder_errc::volume_lost);
  EXPECT_EQ(without_wal.error().message.rfind("/wal is empty", 0), 0U) << without_wal.error().message;

  const auto lost_data = fs_.copy(3);
  empty(*lost_data, "/data");
  const auto without_data = open(*lost_data);
  ASSERT_FALSE(without_data);
  EXPECT_EQ(without_data.error().code, folder_errc::volume_lost);
  EXPECT_EQ(without_data.error().message.rfind("/data is empty", 0), 0U) << without_data.error().message;
}

TEST_F(DataFolderTest, EmptyFoldersOfABrokerThatHasRunAreRefusedAndNothingChanges) {
  may_form_ = false;
  const std::uint64_t before = operations();
  const auto opened = open(fs_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, folder_errc::not_formed);
  EXPECT_EQ(opened.error().message.rfind("/data and /data/wal are empty, but braid.bootstrap is existing", 0), 0U)
      << opened.error().message;
  EXPECT_EQ(operations(), before);
  may_form_ = true;
  ASSERT_TRUE(open(fs_));
  fs_.kill_process();
  may_form_ = false;
  EXPECT_TRUE(open(fs_)) << "what is there may be opened";
}

TEST_F(DataFolderTest, ALostVolumeIsNamedAlsoWhenNothingMayBeFormed) {
  wal_dir_ = "/wal";
  ASSERT_TRUE(open(fs_));
  fs_.kill_process();
  may_form_ = false;
  const auto lost = fs_.copy(2);
  empty(*lost, "/wal");
  EXPECT_EQ(open(*lost).error().code, folder_errc::volume_lost);
}

TEST_F(DataFolderTest, FoldersOfTwoLivesOrOfAnotherBrokerAreRefused) {
  wal_dir_ = "/wal";
  ASSERT_TRUE(open(fs_));
  fs_.kill_process();
  EXPECT_EQ(open(fs_, 7).error().code, folder_errc::mixed);
  sim::sim_file_system other(9);
  ASSERT_TRUE(open(other));
  other.kill_process();
  const auto identity = io::read_file(other, "/wal/braidmq.identity", 4096).value();
  ASSERT_TRUE(io::write_file_atomically(fs_, "/wal/braidmq.identity", identity));
  EXPECT_EQ(open(fs_).error().code, folder_errc::mixed);
}

TEST_F(DataFolderTest, ADamagedOrLaterIdentityIsRefused) {
  ASSERT_TRUE(open(fs_));
  fs_.kill_process();
  const auto size = fs_.open("/data/braidmq.identity", io::open_mode::read).value()->size().value();
  for (std::uint64_t position = 0; position < size; ++position) {
    const auto damaged = fs_.copy(position);
    damaged->flip_bits("/data/braidmq.identity", position, 0x01);
    EXPECT_FALSE(open(*damaged)) << "bit 0 of byte " << position;
  }
}

TEST_F(DataFolderTest, FormattingMayBeCutAtEveryStepAndGoesOn) {
  wal_dir_ = "/wal";
  for (std::uint64_t step = 1;; ++step) {
    sim::sim_file_system fs(step);
    fs.crash_after(step);
    const bool finished = open(fs).has_value();
    if (finished) {
      EXPECT_GT(step, 8U) << "a formatting has more steps than that";
      break;
    }
    for (std::uint64_t fate = 0; fate < 8; ++fate) {
      const auto after = fs.copy(fate);
      sim::rng chance(fate * 1000 + step);
      after->power_cut(chance);
      const auto again = open(*after);
      ASSERT_TRUE(again) << "step " << step << " fate " << fate << ": " << again.error().to_string();
      const uuid life = again->incarnation();
      after->kill_process();
      EXPECT_EQ(open(*after)->incarnation(), life);
    }
  }
}

}  // namespace
}  // namespace braidmq::storage
