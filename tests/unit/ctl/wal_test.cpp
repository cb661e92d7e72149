#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "ctl_fixture.hpp"
#include "io/random.hpp"
#include "wal/writer.hpp"

namespace braidmq::ctl {
namespace {

using ::testing::HasSubstr;

class wal_dump : public ctl_test {
 protected:
  wal_dump() : folder_(std::filesystem::path(testing::TempDir()) / ("braid_ctl_wal_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~wal_dump() override { std::filesystem::remove_all(folder_); }

  // One file: state, two writes, a mark.
  void fill() {
    wal::writer to(io::posix_file_system(), io::system_random(), io::system_clock(), {.folder = folder_}, {});
    ASSERT_TRUE(to.begin_file(std::nullopt));
    const raft::hard_state state{raft::term(2), {0, {}}, raft::index(1)};
    const auto entry = [](std::uint64_t index) {
      return raft::entry{raft::term(2), raft::index(index), raft::entry_kind::command, bytes::copy_of("payload")};
    };
    ASSERT_TRUE(to.write({{raft::group_id(1), state, {entry(1), entry(2)}}}, std::nullopt));
    ASSERT_TRUE(to.write({{raft::group_id(1), std::nullopt, {entry(3)}}}, std::nullopt));
    ASSERT_TRUE(to.mark(std::nullopt));
  }

  std::string file() const { return folder_ / "00000000000000000001.wal"; }

  std::filesystem::path folder_;
};

TEST_F(wal_dump, shows_every_write_in_order) {
  fill();
  EXPECT_EQ(dump_wal(with_, folder_), exit_good) << err_.str();
  const std::string out = out_.str();
  EXPECT_THAT(out, HasSubstr(file() + ": incarnation "));
  EXPECT_THAT(out, HasSubstr("  byte       4096  group write 1, durable 0, state\n"));
  EXPECT_THAT(out, HasSubstr("  byte       8192  group write 2, durable 1, items; group 1: term 2, vote 0, commit 1, "
                             "entries 1 to 2 of term 2, 14 bytes\n"));
  EXPECT_THAT(out, HasSubstr("  byte      12288  group write 3, durable 2, items; group 1: entries 3 to 3 of term 2, 7 "
                             "bytes\n"));
  EXPECT_THAT(out, HasSubstr("  byte      16384  group write 4, durable 3, mark\n"));
  EXPECT_THAT(out, HasSubstr(file() + ": the log ends at byte 20480\n"));
}

TEST_F(wal_dump, as_json_is_a_document_a_line) {
  fill();
  with_.as = format::json;
  EXPECT_EQ(dump_wal(with_, folder_), exit_good) << err_.str();
  std::istringstream lines(out_.str());
  std::vector<nlohmann::json> documents;
  for (std::string line; std::getline(lines, line);) documents.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(documents.size(), 6U);
  EXPECT_EQ(documents[0]["file"], file());
  EXPECT_EQ(documents[2]["items"][0]["entries"]["last"], 2);
  EXPECT_EQ(documents[2]["items"][0]["state"]["vote"], 0);
  EXPECT_EQ(documents[4]["kind"], "mark");
  EXPECT_EQ(documents[5], (nlohmann::json{{"end", 20480}, {"tornBytes", 0}}));
}

TEST_F(wal_dump, ends_where_damage_begins_and_changes_nothing) {
  fill();
  {
    std::fstream damaged(file(), std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(8192 + 100);
    damaged.put('\x7f');
  }
  const auto before = std::filesystem::last_write_time(file());
  EXPECT_EQ(dump_wal(with_, folder_), exit_refused);
  EXPECT_THAT(out_.str(), HasSubstr("group write 1,"));
  EXPECT_THAT(err_.str(), HasSubstr(file() + " at byte 8192: group write 2 is not readable"));
  EXPECT_EQ(std::filesystem::last_write_time(file()), before);
}

TEST_F(wal_dump, says_when_there_is_none) {
  EXPECT_EQ(dump_wal(with_, folder_), exit_refused);
  EXPECT_THAT(err_.str(), HasSubstr("holds no WAL"));
}

}  // namespace
}  // namespace braidmq::ctl
