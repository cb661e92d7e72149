// What recovery refuses: bytes that were durable and are no longer what they were.
#include <gtest/gtest.h>

#include "base/crc32c.hpp"
#include "base/endian.hpp"
#include "fixture.hpp"

namespace braidmq::wal::test {
namespace {

// Names and bytes of the folder, to see that a refusal changes nothing.
std::map<std::string, std::vector<std::byte>> picture(sim::sim_file_system& fs) {
  std::map<std::string, std::vector<std::byte>> files;
  for (const auto& name : names_in_wal(fs)) files[name] = content_of(fs, "/wal/" + name);
  return files;
}

void fill(sim::sim_file_system& fs, std::uint64_t writes, options opts = {}) {
  process p(fs, opts);
  for (std::uint64_t i = 1; i <= writes; ++i) {
    ASSERT_TRUE(p.write(item(group_a, {make_entry(1, i, "entry " + std::to_string(i))}, hard_state(1, i - 1))));
  }
}

// A bit of every byte that has a meaning and of every seventh byte of padding, over all files. (That no bit of a block
// escapes its CRC is shown in format_test.) Refused, or the only loss is the last group write, which no later write
// vouches for: seen from the disk it may be a torn one.
TEST(WalDamage, EveryDamagedByteIsRefusedOrInTheUnvouchedTail) {
  sim::sim_file_system fs;
  fill(fs, 5, {.file_bytes = 12'000});
  auto files = picture(fs);
  std::erase_if(files, [](const auto& file) { return format::parse_spare_name(file.first).has_value(); });
  ASSERT_GE(files.size(), 2U);
  const std::string last_file = files.rbegin()->first;
  const std::size_t last_group = files.rbegin()->second.size() - format::block_bytes;
  ASSERT_GE(last_group, 2 * format::block_bytes) << "the last file holds more than its state group";
  for (const auto& [name, content] : files) {
    for (std::size_t at = 0; at < content.size(); at += at % format::block_bytes < 160 ? 1 : 7) {
      const auto mask = static_cast<std::uint8_t>(1U << (at % 8));
      if (name == last_file && at >= last_group) {
        auto twin = fs.copy(1);
        twin->flip_bits("/wal/" + name, at, mask);
        process p(*twin);
        ASSERT_TRUE(p.wal) << name << " byte " << at << ": " << p.failure->to_string();
        ASSERT_EQ(p.all(group_a).size(), 4U);
        continue;
      }
      const auto changes = [&fs] { return fs.operations().total() - fs.operations().data_syncs; };
      const auto before = changes();
      fs.flip_bits("/wal/" + name, at, mask);
      process p(fs);
      ASSERT_FALSE(p.wal) << name << " byte " << at;
      ASSERT_NE(p.failure->message.find(name), std::string::npos) << p.failure->message;
      ASSERT_TRUE(p.failure->code == errc::corrupt || p.failure->code == errc::wrong_format);
      ASSERT_EQ(changes(), before) << "nothing is changed";
      fs.flip_bits("/wal/" + name, at, mask);
    }
  }
}

TEST(WalDamage, TheErrorNamesFileByteAndWhatToDo) {
  sim::sim_file_system fs;
  fill(fs, 3);
  fs.flip_bits(path_of(1), 2 * format::block_bytes + 70, 0x10);
  const auto before = picture(fs);
  process p(fs);
  ASSERT_FALSE(p.wal);
  EXPECT_EQ(p.failure->code, errc::corrupt);
  EXPECT_NE(p.failure->message.find(path_of(1) + " at byte 8192"), std::string::npos) << p.failure->message;
  EXPECT_NE(p.failure->message.find("Restore"), std::string::npos);
  EXPECT_EQ(picture(fs), before);
  process again(fs);
  EXPECT_EQ(again.failure->message, p.failure->message);
}

TEST(WalDamage, AFileOfTheMiddleIsMissed) {
  sim::sim_file_system fs;
  fill(fs, 4, {.file_bytes = 1});
  ASSERT_TRUE(fs.remove(path_of(3)));
  process p(fs);
  ASSERT_FALSE(p.wal);
  EXPECT_EQ(p.failure->code, errc::corrupt);
  EXPECT_NE(p.failure->message.find(path_of(3) + " is missing"), std::string::npos) << p.failure->message;
}

TEST(WalDamage, FilesInTheWrongPlaceAreRefused) {
  sim::sim_file_system fs;
  fill(fs, 4, {.file_bytes = 1});
  ASSERT_TRUE(fs.rename(path_of(2), "/wal/x"));
  ASSERT_TRUE(fs.rename(path_of(3), path_of(2)));
  ASSERT_TRUE(fs.rename("/wal/x", path_of(3)));
  process p(fs);
  ASSERT_FALSE(p.wal);
  EXPECT_EQ(p.failure->code, errc::corrupt);
}

TEST(WalDamage, AFileCutShortBeforeALaterOneIsRefused) {
  sim::sim_file_system fs;
  fill(fs, 6, {.file_bytes = 16'000});
  ASSERT_TRUE(fs.exists(path_of(2)).value());
  for (const std::uint64_t size : {0U, 100U, 4096U, 5000U, 8192U}) {
    auto twin = fs.copy(1);
    ASSERT_TRUE((*twin->open(path_of(1), io::open_mode::read_write))->truncate(size));
    process p(*twin);
    EXPECT_FALSE(p.wal) << size;
    if (!p.wal) EXPECT_EQ(p.failure->code, errc::corrupt);
  }
}

TEST(WalDamage, TheLastFileWithoutItsStateGroupIsRefused) {
  sim::sim_file_system fs;
  fill(fs, 1);
  for (const std::uint64_t size : {0U, 4095U, 4096U, 6000U}) {
    auto twin = fs.copy(1);
    ASSERT_TRUE((*twin->open(path_of(1), io::open_mode::read_write))->truncate(size));
    process p(*twin);
    ASSERT_FALSE(p.wal) << size;
    EXPECT_EQ(p.failure->code, errc::corrupt);
  }
}

TEST(WalDamage, OtherFilesAndLaterVersionsAreTold) {
  sim::sim_file_system fs;
  fill(fs, 1);
  {
    auto twin = fs.copy(1);
    ASSERT_TRUE((*twin->open(path_of(1), io::open_mode::read_write))->write_at(0, as_byte_view("#!/bin/sh")));
    process p(*twin);
    ASSERT_FALSE(p.wal);
    EXPECT_EQ(p.failure->code, errc::wrong_format);
  }
  auto content = content_of(fs, path_of(1));
  content.resize(format::block_bytes);
  store_be(content.data() + 8, format::version + 1);
  store_be(content.data() + format::file_crc_position, crc32c(byte_view(content).first(format::file_crc_position)));
  ASSERT_TRUE((*fs.open(path_of(1), io::open_mode::read_write))->write_at(0, content));
  process p(fs);
  ASSERT_FALSE(p.wal);
  EXPECT_EQ(p.failure->code, errc::wrong_format);
  EXPECT_NE(p.failure->message.find("version 2"), std::string::npos) << p.failure->message;
}

// Bytes of an earlier use of the file, or of another WAL, never pass: their CRC has another seed.
TEST(WalDamage, GroupsOfAnotherIncarnationAreATornTail) {
  sim::sim_file_system mine(1);
  sim::sim_file_system other(2);
  fill(mine, 2);
  {
    process p(other, {}, 99);
    for (std::uint64_t i = 1; i <= 6; ++i) p.write(item(group_a, {make_entry(1, i, "foreign")}));
  }
  const auto foreign = content_of(other, path_of(1));
  const auto end = content_of(mine, path_of(1)).size();
  ASSERT_GT(foreign.size(), end);
  ASSERT_TRUE((*mine.open(path_of(1), io::open_mode::read_write))->write_at(end, byte_view(foreign).subspan(end)));
  process p(mine);
  ASSERT_TRUE(p.wal) << p.failure->to_string();
  EXPECT_EQ(p.all(group_a).size(), 2U);
  EXPECT_EQ(p.wal->statistics().cut_bytes, 0U) << "nothing of this life was torn";
  EXPECT_TRUE(p.write(item(group_a, {make_entry(1, 3, "written over it")})));
}

// A client cannot make a torn tail look like damage with a record that looks like a group write.
TEST(WalDamage, APayloadThatQuotesTheLogVouchesForNothing) {
  sim::sim_file_system fs;
  fill(fs, 2);
  const auto log_bytes = content_of(fs, path_of(1));
  {
    process p(fs);
    std::string quoted(format::block_bytes, 'q');  // so that some copy begins on a block, wherever the payload begins
    for (std::size_t shift = 0; shift < 4; ++shift) quoted += std::string(as_string_view(log_bytes));
    ASSERT_TRUE(p.write(item(group_a, {make_entry(1, 3, quoted)})));
  }
  fs.flip_bits(path_of(1), log_bytes.size() + 60, 1);
  process p(fs);
  ASSERT_TRUE(p.wal) << p.failure->to_string();
  EXPECT_EQ(p.all(group_a).size(), 2U);
}

}  // namespace
}  // namespace braidmq::wal::test
