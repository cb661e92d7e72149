#include "multiraft/checkpoint_file.hpp"

#include <gtest/gtest.h>

#include "multiraft/group.hpp"
#include "support/sim_file_system.hpp"

namespace braidmq::multiraft {
namespace {

const std::string path = "/data/state";
const checkpoint_id id{raft::group_id(3), raft::index(70'000), raft::term(9)};

class CheckpointFileTest : public ::testing::Test {
 protected:
  CheckpointFileTest() { EXPECT_TRUE(fs_.make_directories("/data")); }

  result<std::uint64_t> write(const std::vector<std::string>& frames) {
    BRAID_TRY(writer, checkpoint_writer::begin(fs_, path, id));
    for (const std::string& frame : frames) BRAID_TRY_VOID(writer.add(7, as_byte_view(frame)));
    return writer.commit();
  }

  static result<std::vector<std::string>> read(io::file_system& fs, raft::group_id group = id.group) {
    BRAID_TRY(reader, checkpoint_reader::open(fs, path, group));
    BRAID_CHECK(reader.has_value(), "no checkpoint");
    EXPECT_EQ(reader->id(), id);
    std::vector<std::string> frames;
    while (true) {
      BRAID_TRY(frame, reader->next());
      if (!frame) return frames;
      EXPECT_EQ(frame->kind, 7);
      frames.emplace_back(as_string_view(frame->payload));
    }
  }

  sim::sim_file_system fs_;
};

TEST_F(CheckpointFileTest, GivesBackWhatWasWritten) {
  const std::vector<std::string> frames{"one", "", std::string(3U << 20U, 'x'), "four"};
  const auto size = write(frames);
  ASSERT_TRUE(size);
  EXPECT_GT(*size, 3U << 20U);
  const auto back = read(fs_);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(*back, frames);
}

TEST_F(CheckpointFileTest, ThereIsNoneBeforeTheFirst) {
  const auto reader = checkpoint_reader::open(fs_, path, id.group);
  ASSERT_TRUE(reader);
  EXPECT_FALSE(reader->has_value());
}

TEST_F(CheckpointFileTest, ADamagedByteAnywhereIsFoundAndNamed) {
  const auto size = write({"orders", "inventory", "audit"});
  ASSERT_TRUE(size);
  for (std::uint64_t at = 0; at < *size; ++at) {
    const auto damaged = fs_.copy(1);
    damaged->flip_bits(path, at, 0x10);
    const auto back = read(*damaged);
    ASSERT_FALSE(back) << "byte " << at;
    EXPECT_EQ(back.error().code, errc::checkpoint_damaged) << back.error().to_string();
    EXPECT_NE(back.error().message.find(path), std::string::npos);
  }
}

TEST_F(CheckpointFileTest, OneThatIsCutShortOrHasATailIsRefused) {
  const auto size = write({"orders", "inventory"});
  ASSERT_TRUE(size);
  for (std::uint64_t length = 0; length < *size; ++length) {
    const auto cut = fs_.copy(1);
    ASSERT_TRUE(cut->open(path, io::open_mode::read_write).value()->truncate(length));
    const auto back = read(*cut);
    ASSERT_FALSE(back) << "length " << length;
    EXPECT_EQ(back.error().code, errc::checkpoint_damaged);
  }
  ASSERT_TRUE(fs_.open(path, io::open_mode::read_write).value()->write_at(*size, as_byte_view("more")));
  const auto back = read(fs_);
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, errc::checkpoint_damaged);
}

TEST_F(CheckpointFileTest, AnotherGroupsIsRefused) {
  ASSERT_TRUE(write({"orders"}));
  const auto back = checkpoint_reader::open(fs_, path, raft::group_id(4));
  ASSERT_FALSE(back);
  EXPECT_EQ(back.error().code, errc::checkpoint_format);
}

TEST_F(CheckpointFileTest, APowerCutAtAnyPointLeavesTheOldOneOrTheNewOneWhole) {
  const std::vector<std::string> old_frames{"old", "rows"};
  const std::vector<std::string> new_frames{"new", "rows", "and more of them"};
  ASSERT_TRUE(write(old_frames));
  int old_ones = 0;
  int new_ones = 0;
  for (std::uint64_t at = 1; at < 12; ++at) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const auto world = fs_.copy(seed);
      world->crash_after(at);
      {
        auto writer = checkpoint_writer::begin(*world, path, id);
        status written = writer ? status() : status(tl::unexpected<error>(writer.error()));
        for (const std::string& frame : new_frames) {
          if (written) written = writer->add(7, as_byte_view(frame));
        }
        if (written) static_cast<void>(writer->commit());
      }
      sim::rng chance(seed);
      world->power_cut(chance);
      const auto back = read(*world);
      ASSERT_TRUE(back) << back.error().to_string();
      ASSERT_TRUE(*back == old_frames || *back == new_frames);
      ++(*back == old_frames ? old_ones : new_ones);
    }
  }
  EXPECT_GT(old_ones, 0);
  EXPECT_GT(new_ones, 0);
}

}  // namespace
}  // namespace braidmq::multiraft
