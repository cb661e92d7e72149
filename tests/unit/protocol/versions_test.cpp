// What happens to fields that a version does not have.
#include <gtest/gtest.h>

#include "protocol/errc.hpp"
#include "protocol/generated/metadata.hpp"
#include "protocol/generated/produce.hpp"
#include "unit/protocol/hex.hpp"

namespace braidmq::protocol {
namespace {

TEST(versions, ignorable_fields_are_dropped) {
  produce_response response;
  response.responses.emplace_back().partition_responses.emplace_back().log_start_offset = model::offset(9);
  byte_buffer buffer;
  ASSERT_TRUE(response.encode(buffer, 4));
  const auto decoded = produce_response::decode(buffer.freeze(), 4);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->responses[0].partition_responses[0].log_start_offset, model::offset(-1));
}

TEST(versions, other_fields_are_refused_and_nothing_is_left_in_the_buffer) {
  metadata_request request;
  request.include_topic_authorized_operations = true;
  byte_buffer buffer;
  buffer.append("before");
  const status encoded = request.encode(buffer, 7);
  ASSERT_FALSE(encoded);
  EXPECT_EQ(encoded.error().code, errc::unsupported_field);
  EXPECT_EQ(encoded.error().message, "MetadataRequest: include_topic_authorized_operations");
  EXPECT_EQ(as_string_view(buffer.view()), "before");
  EXPECT_TRUE(request.encode(buffer, 8));
}

TEST(versions, a_tagged_field_that_cannot_be_dropped_is_refused) {
  produce_request request;
  request.atomic = true;
  byte_buffer buffer;
  EXPECT_EQ(request.encode(buffer, 8).error().code, errc::unsupported_field);
  EXPECT_TRUE(request.encode(buffer, 9));
  produce_response response;
  response.node_endpoints.emplace_back();
  EXPECT_EQ(response.encode(buffer, 9).error().code, errc::unsupported_field);
}

TEST(versions, null_where_a_version_has_none) {
  metadata_request request;
  request.topics.reset();
  byte_buffer buffer;
  EXPECT_EQ(request.encode(buffer, 0).error().code, errc::unexpected_null);
  EXPECT_TRUE(request.encode(buffer, 1));
  EXPECT_EQ(metadata_request::decode(from_hex("ff ff ff ff"), 0).error().code, errc::malformed);
  EXPECT_EQ(metadata_request::decode(from_hex("ff ff ff ff"), 1)->topics, std::nullopt);
}

TEST(versions, a_known_tag_of_a_later_version_counts_as_unknown) {
  // current_leader came with version 10; in version 9 its tag is skipped, not read.
  const auto decoded = produce_response::decode(from_hex("01 00 00 00 00 01 00 02 ab cd"), 9);
  ASSERT_TRUE(decoded) << decoded.error().to_string();
  EXPECT_EQ(*decoded, produce_response{});
}

}  // namespace
}  // namespace braidmq::protocol
