#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "ctl_fixture.hpp"
#include "model/batch_builder.hpp"

namespace braidmq::ctl {
namespace {

using ::testing::HasSubstr;

class log_dump : public ctl_test {
 protected:
  log_dump() : folder_(std::filesystem::path(testing::TempDir()) / ("braid_ctl_log_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
    model::batch_builder plain({.base_offset = model::offset(7), .partition_leader_epoch = model::leader_epoch(1)});
    plain.add("k", "v", 1'700'000'000'000).add("k", "w", 1'700'000'000'001);
    write(*plain.build());
    model::batch_builder packed({.codec = model::compression::zstd,
                                 .base_offset = model::offset(9),
                                 .producer_id = model::producer_id(5),
                                 .producer_epoch = model::producer_epoch(2),
                                 .base_sequence = model::sequence(30)});
    write(*packed.add("k", "x", -1).build());
  }
  ~log_dump() override { std::filesystem::remove_all(folder_); }

  void write(const bytes& batch) {
    std::ofstream(file(), std::ios::binary | std::ios::app) << as_string_view(batch);
    sizes_.push_back(batch.size());
  }
  std::string file() const { return folder_ / "00000000000000000007.log"; }

  std::filesystem::path folder_;
  std::vector<std::size_t> sizes_;
};

TEST_F(log_dump, shows_every_batch) {
  EXPECT_EQ(dump_segments(with_, {file()}), exit_good) << err_.str();
  const std::string out = out_.str();
  EXPECT_THAT(out, HasSubstr(fmt::format("{}: {} bytes\n", file(), sizes_[0] + sizes_[1])));
  EXPECT_THAT(out,
              HasSubstr(fmt::format("  byte          0  offsets 7 to 8, 2 records, times 2023-11-14T22:13:20.000Z to "
                                    "2023-11-14T22:13:20.001Z, none, {} bytes, leader epoch 1\n",
                                    sizes_[0])));
  EXPECT_THAT(out,
              HasSubstr(fmt::format("  byte {:>10}  offsets 9 to 9, 1 records, times - to -, zstd, {} bytes, leader "
                                    "epoch -1, producer 5 epoch 2 sequence 30\n",
                                    sizes_[0], sizes_[1])));
  EXPECT_THAT(out, HasSubstr(fmt::format("{}: 2 batches in {} bytes, no entries in .index, no in .timeindex\n", file(),
                                         sizes_[0] + sizes_[1])));
}

TEST_F(log_dump, as_json_is_a_document_a_line) {
  with_.as = format::json;
  EXPECT_EQ(dump_segments(with_, {file()}), exit_good);
  std::istringstream lines(out_.str());
  std::vector<nlohmann::json> documents;
  for (std::string line; std::getline(lines, line);) documents.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(documents.size(), 4U);
  EXPECT_EQ(documents[1]["baseOffset"], 7);
  EXPECT_EQ(documents[1]["lastOffset"], 8);
  EXPECT_EQ(documents[2]["codec"], "zstd");
  EXPECT_EQ(documents[2]["baseSequence"], 30);
  EXPECT_EQ(documents[2]["crcMatches"], true);
  EXPECT_EQ(documents[3]["endOffset"], 10);
  EXPECT_TRUE(documents[3]["indexEntries"].is_null());
}

TEST_F(log_dump, names_file_and_place_of_damage_and_goes_on) {
  {
    std::fstream damaged(file(), std::ios::in | std::ios::out | std::ios::binary);
    damaged.seekp(static_cast<std::streamoff>(sizes_[0]) - 1);
    damaged.put('\x7f');
  }
  const std::string absent = folder_ / "00000000000000000100.log";
  EXPECT_EQ(dump_segments(with_, {file(), absent}), exit_refused);
  EXPECT_THAT(out_.str(), HasSubstr("CRC WRONG\n"));
  EXPECT_THAT(out_.str(), HasSubstr("offsets 9 to 9"));
  EXPECT_THAT(err_.str(), HasSubstr(file() + " at byte 0: the CRC of the batch does not match\n"));
  EXPECT_THAT(err_.str(), HasSubstr(absent));
}

}  // namespace
}  // namespace braidmq::ctl
