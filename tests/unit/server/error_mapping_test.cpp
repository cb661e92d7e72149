#include "server/error_mapping.hpp"

#include <gtest/gtest.h>

#include "braid/errc.hpp"
#include "metadata/errc.hpp"
#include "model/errc.hpp"
#include "protocol/errc.hpp"

namespace braidmq::server {
namespace {

// Every value of an enum that its category has words for.
template <class Errc>
std::vector<std::error_code> all_of(int limit) {
  std::vector<std::error_code> codes;
  for (int value = 1; value <= limit; ++value) {
    const std::error_code code = make_error_code(static_cast<Errc>(value));
    if (code.message().rfind("unknown", 0) != 0) codes.push_back(code);
  }
  return codes;
}

template <class Errc>
void expect_total(int limit, std::size_t at_least) {
  const auto codes = all_of<Errc>(limit);
  EXPECT_GE(codes.size(), at_least);
  for (const std::error_code& code : codes) {
    EXPECT_NE(wire_error(code), protocol::error_code::unknown_server_error)
        << code.category().name() << ": " << code.message();
    EXPECT_NE(wire_error(code), protocol::error_code::none) << code.message();
  }
}

TEST(ErrorMapping, IsTotal) {
  expect_total<braid::errc>(64, 13);
  expect_total<metadata::errc>(64, 12);
  expect_total<protocol::errc>(64, 3);
  for (const auto code :
       {model::errc::corrupt_message, model::errc::message_too_large, model::errc::invalid_topic,
        model::errc::invalid_timestamp, model::errc::unsupported_compression, model::errc::invalid_record}) {
    EXPECT_EQ(static_cast<int>(wire_error(code)), static_cast<int>(code));
  }
  EXPECT_EQ(wire_error(braid::errc::offset_not_available), protocol::error_code::offset_not_available);
  EXPECT_EQ(wire_error(model::errc::incomplete_batch), protocol::error_code::corrupt_message);
}

TEST(ErrorMapping, AGoneTopicIsUnknownByItsIdWhenItWasAskedForById) {
  EXPECT_EQ(wire_error_by_id(braid::errc::unknown_partition, false), protocol::error_code::unknown_topic_id);
  EXPECT_EQ(wire_error_by_id(braid::errc::unknown_partition, true), protocol::error_code::unknown_topic_or_partition);
  EXPECT_EQ(wire_error_by_id(braid::errc::not_leader, false), protocol::error_code::not_leader_or_follower);
  EXPECT_EQ(wire_error_by_id({}, false), protocol::error_code::none);
}

TEST(ErrorMapping, SuccessIsNoneAndForeignCodesAreNotGuessed) {
  EXPECT_EQ(wire_error({}), protocol::error_code::none);
  EXPECT_EQ(wire_error(std::make_error_code(std::errc::io_error)), protocol::error_code::unknown_server_error);
}

TEST(ErrorMapping, WhatClientsMustNotRetryDoesNotLookRetriable) {
  for (const auto code :
       {braid::errc::out_of_order_sequence, braid::errc::stale_producer_epoch, braid::errc::too_large}) {
    EXPECT_FALSE(protocol::is_retriable(wire_error(code))) << make_error_code(code).message();
  }
  for (const auto code : {braid::errc::not_leader, braid::errc::timed_out, braid::errc::stopped}) {
    EXPECT_TRUE(protocol::is_retriable(wire_error(code))) << make_error_code(code).message();
  }
}

}  // namespace
}  // namespace braidmq::server
