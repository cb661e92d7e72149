// Runs tests/data/raft/*.txt. After an intended change of behaviour run with BRAID_REWRITE=1 and read the diff.
#include "transcript.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace braidmq::raft::test {
namespace {

TEST(Transcripts, AnswerAsRecorded) {
  const char* data = std::getenv("BRAID_TEST_DATA");
  ASSERT_NE(data, nullptr) << "BRAID_TEST_DATA names the folder tests/data";
  int count = 0;
  for (const auto& item : std::filesystem::directory_iterator(std::filesystem::path(data) / "raft")) {
    if (item.path().extension() != ".txt") continue;
    ++count;
    std::ostringstream script;
    script << std::ifstream(item.path()).rdbuf();
    const std::string now = run_transcript(script.str());
    if (std::getenv("BRAID_REWRITE") != nullptr) {
      std::ofstream(item.path()) << now;
    } else {
      EXPECT_EQ(now, script.str()) << item.path();
    }
  }
  EXPECT_GE(count, 4);
}

}  // namespace
}  // namespace braidmq::raft::test
