#include "metadata/command.hpp"

#include <gtest/gtest.h>

namespace braidmq::metadata {
namespace {

uuid id_of(std::uint8_t first) {
  uuid id;
  id.octets[0] = first;
  return id;
}

TEST(Command, EveryKindComesBack) {
  const std::vector<command> all{
      found_cluster{id_of(1)},
      register_broker{model::broker_id(3), id_of(2)},
      create_topic{"orders", id_of(4), 12, {{"max.message.bytes", "1000"}, {"min.insync.replicas", "2"}}},
      allocate_producer_ids{model::broker_id(3)},
  };
  for (const command& one : all) {
    const auto back = decode(encode(one));
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(*back, one);
  }
}

TEST(Command, RefusesUnknownKindsVersionsAndCutOnes) {
  const bytes good = encode(command(create_topic{"orders", id_of(4), 12, {{"a", "b"}}}));
  for (std::size_t length = 0; length < good.size(); ++length) EXPECT_FALSE(decode(good.slice(0, length))) << length;
  byte_buffer unknown;
  unknown.append_be<std::int16_t>(99);
  unknown.append_be<std::int16_t>(0);
  EXPECT_FALSE(decode(unknown.freeze()));
  byte_buffer later;
  later.append_be<std::int16_t>(1);
  later.append_be<std::int16_t>(99);
  EXPECT_FALSE(decode(later.freeze()));
}

}  // namespace
}  // namespace braidmq::metadata
