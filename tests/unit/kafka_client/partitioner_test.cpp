#include "kafka_client/partitioner.hpp"

#include <gtest/gtest.h>

namespace braidmq::kafka_client {
namespace {

// The values that the tests of Apache Kafka's client name.
TEST(Partitioner, HashesAsJavaDoes) {
  EXPECT_EQ(static_cast<std::int32_t>(murmur2("21")), -973932308);
  EXPECT_EQ(static_cast<std::int32_t>(murmur2("foobar")), -790332482);
  EXPECT_EQ(static_cast<std::int32_t>(murmur2("a-little-bit-long-string")), -985981536);
  EXPECT_EQ(static_cast<std::int32_t>(murmur2("a-little-bit-longer-string")), -1486304829);
  EXPECT_EQ(static_cast<std::int32_t>(murmur2("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8")), -58897971);
  EXPECT_EQ(static_cast<std::int32_t>(murmur2("abc")), 479470107);
}

TEST(Partitioner, AKeyHasOnePartition) {
  for (const std::string_view key : {"", "a", "foobar", "\xff\xfe\xfd"}) {
    const std::int32_t chosen = partition_of_key(key, 7);
    EXPECT_GE(chosen, 0);
    EXPECT_LT(chosen, 7);
    EXPECT_EQ(partition_of_key(key, 7), chosen);
    EXPECT_EQ(partition_of_key(key, 1), 0);
  }
  EXPECT_EQ(partition_of_key("foobar", 10), (-790332482 & 0x7fffffff) % 10);
}

}  // namespace
}  // namespace braidmq::kafka_client
