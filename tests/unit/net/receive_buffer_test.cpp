#include "net/receive_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net_fixture.hpp"

namespace braidmq::net {
namespace {

std::size_t feed(receive_buffer& buffer, byte_view data, std::size_t at_most) {
  const auto space = buffer.space();
  const auto count = std::min({space.size(), data.size(), at_most});
  std::memcpy(space.data(), data.data(), count);
  buffer.received(count);
  return count;
}

TEST(receive_buffer, cuts_frames_however_the_bytes_arrive) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::string> sent;
    byte_buffer stream;
    for (int i = 0; i < 40; ++i) {
      const std::size_t size = random() % 8 == 0 ? random() % 300'000 + 1 : random() % 40 + 1;
      sent.emplace_back(size, static_cast<char>('a' + i % 26));
      stream.append(framed(sent.back()));
    }
    receive_buffer buffer(1 << 20);
    std::vector<std::string> got;
    byte_view rest = stream.view();
    while (!rest.empty()) {
      rest = rest.subspan(feed(buffer, rest, random() % 3 == 0 ? random() % 7 + 1 : random() % 100'000 + 1));
      while (auto frame = buffer.next_frame()) got.emplace_back(as_string_view(*frame));
    }
    ASSERT_EQ(got, sent) << "seed " << seed;
    EXPECT_FALSE(buffer.frame_started());
  }
}

TEST(receive_buffer, memory_follows_the_bytes_that_came_not_the_announced_length) {
  receive_buffer buffer(100 * 1024 * 1024);
  byte_buffer start;
  start.append_be(std::int32_t{90 * 1024 * 1024});
  feed(buffer, start.view(), 4);
  EXPECT_FALSE(buffer.next_frame());
  EXPECT_TRUE(buffer.in_frame());
  std::vector<std::byte> data(1024 * 1024);
  std::size_t sent = 0;
  while (sent < 3 * data.size()) {
    sent += feed(buffer, data, 1000);
    EXPECT_FALSE(buffer.next_frame());
    ASSERT_LE(buffer.held_bytes(), 2 * sent + 80 * 1024);
  }
  EXPECT_EQ(buffer.frame_received_bytes(), sent);
}

TEST(receive_buffer, refuses_lengths_that_cannot_be) {
  const struct {
    std::int32_t length;
    close_cause cause;
  } cases[] = {
      {0, close_cause::bad_frame_length},
      {-1, close_cause::bad_frame_length},
      {std::numeric_limits<std::int32_t>::min(), close_cause::bad_frame_length},
      {1001, close_cause::frame_too_large},
      {std::numeric_limits<std::int32_t>::max(), close_cause::frame_too_large},
      {0x16030100, close_cause::foreign_protocol},  // TLS
      {0x47455420, close_cause::foreign_protocol},  // "GET "
      {0x504f5354, close_cause::foreign_protocol},  // "POST"
  };
  for (const auto& one : cases) {
    receive_buffer buffer(1000);
    byte_buffer start;
    start.append_be(one.length);
    feed(buffer, start.view(), 4);
    EXPECT_FALSE(buffer.next_frame());
    EXPECT_EQ(buffer.bad(), one.cause) << one.length;
    EXPECT_EQ(buffer.bad_length(), one.length);
    EXPECT_LE(buffer.held_bytes(), 16U * 1024) << one.length;
    EXPECT_FALSE(buffer.next_frame());
  }
}

TEST(receive_buffer, the_largest_allowed_frame_is_allowed) {
  receive_buffer buffer(1000);
  const auto frame = framed(std::string(1000, 'x'));
  feed(buffer, frame, 5000);
  const auto got = buffer.next_frame();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->size(), 1000U);
}

}  // namespace
}  // namespace braidmq::net
