#include "base/uuid.hpp"

#include <gtest/gtest.h>

namespace braidmq {
namespace {

TEST(Uuid, TextIsKafkasAndComesBack) {
  uuid id;
  for (std::size_t i = 0; i < id.octets.size(); ++i) id.octets[i] = static_cast<std::uint8_t>(i * 17);
  EXPECT_EQ(id.to_string(), "ABEiM0RVZneImaq7zN3u_w");
  EXPECT_EQ(uuid::parse(id.to_string()), id);
  EXPECT_EQ(uuid{}.to_string(), "AAAAAAAAAAAAAAAAAAAAAA");
}

TEST(Uuid, RefusesWhatIsNotOne) {
  EXPECT_FALSE(uuid::parse(""));
  EXPECT_FALSE(uuid::parse("ABEiM0RVZneImaq7zN3u_"));
  EXPECT_FALSE(uuid::parse("ABEiM0RVZneImaq7zN3u_ww"));
  EXPECT_FALSE(uuid::parse("ABEiM0RVZneImaq7zN3u/w"));
  EXPECT_FALSE(uuid::parse("ABEiM0RVZneImaq7zN3u_x")) << "bits beyond 128 are set";
}

}  // namespace
}  // namespace braidmq
