// The contract of io::file_system as far as a process that does not crash can see it, run against both implementations.
#include "io/file_system.hpp"

#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/sim_file_system.hpp"

namespace braidmq::io {
namespace {

struct posix_fixture {
  posix_fixture() {
    std::string name = (std::filesystem::temp_directory_path() / "braid-io-XXXXXX").string();
    BRAID_CHECK(::mkdtemp(name.data()) != nullptr);
    root = name;
  }
  ~posix_fixture() { std::filesystem::remove_all(root); }
  file_system& fs() { return posix_file_system(); }
  std::string root;
};

struct sim_fixture {
  sim_fixture() { BRAID_CHECK(simulated.make_directories(root).has_value()); }
  file_system& fs() { return simulated; }
  sim::sim_file_system simulated;
  std::string root = "/root";
};

template <class Fixture>
class FileSystemTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return fixture_.root + "/" + name; }
  file_system& fs() { return fixture_.fs(); }

  std::unique_ptr<file> open(const std::string& name, open_mode mode) {
    auto opened = fs().open(path(name), mode);
    EXPECT_TRUE(opened.has_value()) << opened.error().to_string();
    return opened ? std::move(*opened) : nullptr;
  }
  void make(const std::string& name, std::string_view content) {
    ASSERT_TRUE(open(name, open_mode::create)->write_at(0, as_byte_view(content)));
  }
  std::string content(const std::string& name) {
    auto read = read_file(fs(), path(name), 1U << 20U);
    return read ? std::string(as_string_view(*read)) : "error: " + read.error().code.message();
  }

  Fixture fixture_;
};

using implementations = testing::Types<posix_fixture, sim_fixture>;
struct implementation_names {
  template <class T>
  static std::string GetName(int) {  // NOLINT(readability-identifier-naming): GoogleTest asks for it
    return std::is_same_v<T, posix_fixture> ? "posix" : "simulated";
  }
};
TYPED_TEST_SUITE(FileSystemTest, implementations, implementation_names);

TYPED_TEST(FileSystemTest, OpenModes) {
  EXPECT_EQ(this->fs().open(this->path("a"), open_mode::read).error().code, errc::not_found);
  EXPECT_EQ(this->fs().open(this->path("a"), open_mode::read_write).error().code, errc::not_found);
  EXPECT_EQ(this->fs().open(this->path("x/a"), open_mode::create).error().code, errc::not_found);
  this->make("a", "hello");
  EXPECT_EQ(this->fs().open(this->path("a"), open_mode::create_new).error().code, errc::already_exists);
  EXPECT_EQ(this->fs().open(this->path("a/b"), open_mode::create).error().code, errc::not_found) << "a is a file";
  EXPECT_EQ(*this->open("a", open_mode::create)->size(), 5U) << "create keeps what is there";
  ASSERT_TRUE(this->open("b", open_mode::create_new)->write_at(0, as_byte_view("x")));
  const auto reader = this->open("a", open_mode::read);
  EXPECT_FALSE(reader->write_at(0, as_byte_view("x")));
  EXPECT_EQ(this->content("a"), "hello");
}

TYPED_TEST(FileSystemTest, WritesPartsGrowsWithZerosAndReadsShortAtTheEnd) {
  const auto target = this->open("a", open_mode::create);
  const std::vector<byte_view> parts{as_byte_view("one"), {}, as_byte_view("two")};
  ASSERT_TRUE(target->write_at(4, parts));
  EXPECT_EQ(this->content("a"), (std::string{"\0\0\0\0onetwo", 10}));
  ASSERT_TRUE(target->write_at(100, byte_view())) << "nothing to write";
  EXPECT_EQ(*target->size(), 10U) << "and so nothing grows";
  std::vector<std::byte> buffer(8);
  EXPECT_EQ(*target->read_at(7, buffer), 3U);
  EXPECT_EQ(as_string_view(byte_view(buffer).first(3)), "two");
  EXPECT_EQ(*target->read_at(10, buffer), 0U);
  EXPECT_EQ(*target->read_at(1000, buffer), 0U);
  ASSERT_TRUE(target->write_at(5, as_byte_view("NET")));
  EXPECT_EQ(this->content("a"), (std::string{"\0\0\0\0oNETwo", 10}));
}

TYPED_TEST(FileSystemTest, WritesMorePartsThanOneSystemCallTakes) {
  const auto target = this->open("a", open_mode::create);
  std::string all;
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i) texts.push_back(std::to_string(i) + ";");
  std::vector<byte_view> parts;
  for (const std::string& text : texts) {
    parts.push_back(as_byte_view(text));
    all += text;
  }
  ASSERT_TRUE(target->write_at(0, parts));
  EXPECT_EQ(this->content("a"), all);
}

TYPED_TEST(FileSystemTest, TruncateShortensAndLengthens) {
  const auto target = this->open("a", open_mode::create);
  ASSERT_TRUE(target->write_at(0, as_byte_view("hello")));
  ASSERT_TRUE(target->truncate(2));
  EXPECT_EQ(this->content("a"), "he");
  ASSERT_TRUE(target->truncate(4));
  EXPECT_EQ(this->content("a"), (std::string{"he\0\0", 4})) << "bytes cut away do not come back";
  ASSERT_TRUE(target->sync_data());
}

TYPED_TEST(FileSystemTest, ListIsSortedAndRemoveTakesNamesAway) {
  EXPECT_EQ(this->fs().list(this->path("none")).error().code, errc::not_found);
  EXPECT_EQ(this->fs().list(this->fixture_.root)->size(), 0U);
  this->make("b", "");
  this->make("a", "");
  ASSERT_TRUE(this->fs().make_directories(this->path("c/d/e")));
  EXPECT_EQ(*this->fs().list(this->fixture_.root), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(*this->fs().list(this->path("c")), (std::vector<std::string>{"d"}));
  EXPECT_FALSE(this->fs().remove(this->path("c"))) << "not empty";
  EXPECT_TRUE(this->fs().remove(this->path("c/d/e")));
  EXPECT_TRUE(this->fs().remove(this->path("a")));
  EXPECT_EQ(this->fs().remove(this->path("a")).error().code, errc::not_found);
  EXPECT_EQ(*this->fs().exists(this->path("a")), false);
  EXPECT_EQ(*this->fs().exists(this->path("b")), true);
  EXPECT_EQ(*this->fs().exists(this->path("c/d")), true);
  EXPECT_EQ(*this->fs().exists(this->path("b/x")), false);
  EXPECT_TRUE(this->fs().sync_directory(this->fixture_.root));
  EXPECT_EQ(this->fs().sync_directory(this->path("none")).error().code, errc::not_found);
}

TYPED_TEST(FileSystemTest, ARemovedFileLivesWhileItIsOpen) {
  const auto target = this->open("a", open_mode::create);
  ASSERT_TRUE(target->write_at(0, as_byte_view("old")));
  ASSERT_TRUE(this->fs().remove(this->path("a")));
  this->make("a", "newer");
  EXPECT_EQ(*target->size(), 3U);
  EXPECT_EQ(this->content("a"), "newer");
}

TYPED_TEST(FileSystemTest, MakeDirectoriesTwiceAndOverAFile) {
  ASSERT_TRUE(this->fs().make_directories(this->path("x/y")));
  ASSERT_TRUE(this->fs().make_directories(this->path("x/y")));
  ASSERT_TRUE(this->fs().make_directories(this->path("x/y/z/")));
  this->make("x/file", "1");
  EXPECT_EQ(this->fs().make_directories(this->path("x/file")).error().code, errc::already_exists);
  EXPECT_EQ(this->fs().make_directories(this->path("x/file/z")).error().code, errc::already_exists);
  EXPECT_EQ(*this->fs().list(this->path("x")), (std::vector<std::string>{"file", "y"}));
}

TYPED_TEST(FileSystemTest, RenameReplaces) {
  EXPECT_EQ(this->fs().rename(this->path("a"), this->path("b")).error().code, errc::not_found);
  this->make("a", "new");
  this->make("b", "old");
  const auto open_old = this->open("b", open_mode::read);
  ASSERT_TRUE(this->fs().rename(this->path("a"), this->path("b")));
  EXPECT_EQ(this->content("b"), "new");
  EXPECT_EQ(*open_old->size(), 3U);
  EXPECT_FALSE(*this->fs().exists(this->path("a")));
  ASSERT_TRUE(this->fs().rename(this->path("b"), this->path("b"))) << "onto itself";
  ASSERT_TRUE(this->fs().make_directories(this->path("d/e")));
  this->make("d/e/inside", "kept");
  ASSERT_TRUE(this->fs().rename(this->path("d/e"), this->path("f")));
  EXPECT_EQ(this->content("f/inside"), "kept");
  EXPECT_FALSE(this->fs().rename(this->path("b"), this->path("f"))) << "a file does not replace a folder";
}

TYPED_TEST(FileSystemTest, OneLockAtATimeWhichDiesWithItsOwner) {
  auto first = this->fs().lock(this->path("lock"));
  ASSERT_TRUE(first);
  const auto second = this->fs().lock(this->path("lock"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, errc::busy);
  EXPECT_NE(second.error().message.find("held by process"), std::string::npos) << second.error().message;
  first->reset();
  EXPECT_TRUE(this->fs().lock(this->path("lock")));
}

TYPED_TEST(FileSystemTest, WriteFileAtomicallyAndReadFileWithALimit) {
  ASSERT_TRUE(write_file_atomically(this->fs(), this->path("a"), as_byte_view("a long first version")));
  ASSERT_TRUE(write_file_atomically(this->fs(), this->path("a"), as_byte_view("second")));
  EXPECT_EQ(this->content("a"), "second");
  EXPECT_EQ(this->fs().list(this->fixture_.root)->size(), 1U) << "no temporary stays";
  EXPECT_TRUE(read_file(this->fs(), this->path("a"), 6));
  EXPECT_FALSE(read_file(this->fs(), this->path("a"), 5));
  EXPECT_EQ(read_file(this->fs(), this->path("b"), 5).error().code, errc::not_found);
}

}  // namespace
}  // namespace braidmq::io
