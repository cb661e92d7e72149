// Headers and frames; rows F4, F6 and F7 for bytes that arrive before anybody is authenticated.
#include <gtest/gtest.h>

#include "base/endian.hpp"
#include "protocol/errc.hpp"
#include "protocol/generated/api_versions.hpp"
#include "protocol/generated/metadata.hpp"
#include "protocol/message.hpp"
#include "unit/protocol/hex.hpp"

namespace braidmq::protocol {
namespace {

TEST(api_table, is_sorted_and_complete) {
  ASSERT_FALSE(api_table().empty());
  for (const api_description& api : api_table()) {
    EXPECT_EQ(find_api(static_cast<std::int16_t>(api.key)), &api);
    EXPECT_LE(api.min_version, api.latest_stable_version);
    EXPECT_LE(api.latest_stable_version, api.max_version);
  }
  EXPECT_EQ(find_api(-1), nullptr);
  EXPECT_EQ(find_api(32767), nullptr);
  EXPECT_EQ(find_api(18)->name, "ApiVersions");
}

TEST(frame, header_version_follows_the_api_version) {
  const auto classic = decode_request_frame(from_hex("0003 0001 00000009 ffff  ffffffff"));
  ASSERT_TRUE(classic) << classic.error().to_string();
  EXPECT_EQ(classic->header.client_id, std::nullopt);
  EXPECT_EQ(to_hex(classic->body), "ff ff ff ff");
  const auto flexible = decode_request_frame(from_hex("0003 0009 00000009 0002 6d65 00  00 01 00 00 00"));
  ASSERT_TRUE(flexible) << flexible.error().to_string();
  EXPECT_EQ(flexible->header.client_id, "me");
  EXPECT_EQ(flexible->header.correlation_id, 9);
  EXPECT_EQ(flexible->api->name, "Metadata");
  EXPECT_EQ(to_hex(flexible->body), "00 01 00 00 00");
}

TEST(frame, body_shares_the_frame) {
  const bytes frame = from_hex("0003 0001 00000009 ffff  ffffffff");
  EXPECT_EQ(decode_request_frame(frame)->body.data(), frame.data() + 10);
}

TEST(frame, f4_unknown_api_and_unknown_version) {
  EXPECT_EQ(decode_request_frame(from_hex("7fff 0000 00000001 ffff")).error().code, errc::unknown_api);
  EXPECT_EQ(decode_request_frame(from_hex("0003 0063 00000001 ffff 00")).error().code, errc::unsupported_version);
  EXPECT_EQ(decode_request_frame(from_hex("0003 ffff 00000001 ffff 00")).error().code, errc::unsupported_version);
  // ApiVersions alone is answered, whatever the rest of the frame may mean in that version.
  const auto probe = decode_request_frame(from_hex("0012 0063 00000005 0001 78 deadbeef"));
  ASSERT_TRUE(probe) << probe.error().to_string();
  EXPECT_FALSE(probe->version_supported);
  EXPECT_EQ(probe->header.correlation_id, 5);
  EXPECT_TRUE(probe->body.empty());
}

TEST(frame, f6_a_flood_of_tagged_fields_in_the_header) {
  EXPECT_EQ(decode_request_frame(from_hex("0012 0003 00000001 ffff 80dac409 0000")).error().code, errc::malformed);
  std::string flood = "0012 0003 00000001 ffff 41";  // 65 tags
  for (int tag = 0; tag < 65; ++tag) flood += fmt::format(" {:02x}00", tag);
  EXPECT_EQ(decode_request_frame(from_hex(flood)).error().code, errc::malformed);
}

TEST(frame, f7_broken_headers) {
  EXPECT_EQ(decode_request_frame(from_hex("")).error().code, errc::truncated);
  EXPECT_EQ(decode_request_frame(from_hex("0012 0003 0000")).error().code, errc::truncated);
  EXPECT_EQ(decode_request_frame(from_hex("0012 0003 00000001 0005 6162")).error().code, errc::truncated);
  EXPECT_EQ(decode_request_frame(from_hex("0012 0003 00000001 fffe")).error().code, errc::malformed);
  EXPECT_EQ(decode_request_frame(from_hex("0012 0003 00000001 0002 c328 00")).error().code, errc::malformed);
}

TEST(frame, response_of_api_versions_always_has_the_old_header) {
  byte_buffer buffer;
  ASSERT_TRUE(encode_response_frame(buffer, api_versions_response{}, 3, 5));
  // length, correlation id, and no tagged fields before the body
  EXPECT_EQ(to_hex(buffer.view()), to_hex(from_hex("0000000c 00000005  0000 01 00000000 00")));
}

TEST(frame, flexible_responses_have_tagged_fields_in_the_header) {
  byte_buffer buffer;
  buffer.append("x");
  ASSERT_TRUE(encode_response_frame(buffer, metadata_response{}, 9, 5));
  const byte_view frame = buffer.view().subspan(1);
  // Length, correlation id, no tagged fields; throttle time, no brokers, no cluster id, controller -1, no topics,
  // operations, no tagged fields.
  EXPECT_EQ(to_hex(frame), to_hex(from_hex("00000015 00000005 00  00000000 01 00 ffffffff 01 80000000 00")));
  EXPECT_EQ(load_be<std::int32_t>(frame.data()), static_cast<std::int32_t>(frame.size()) - 4);
  const auto decoded = decode_response_frame(bytes::copy_of(frame.subspan(4)), *find_api(3), 9);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->correlation_id, 5);
  EXPECT_EQ(*metadata_response::decode(decoded->body, 9), metadata_response{});
}

TEST(frame, requests_of_our_own_clients_come_back) {
  byte_buffer buffer;
  api_versions_request request;
  request.client_software_name = "braid";
  ASSERT_TRUE(encode_request_frame(buffer, request, 4, 11, "me"));
  const auto frame = decode_request_frame(bytes::copy_of(buffer.view().subspan(4)));
  ASSERT_TRUE(frame) << frame.error().to_string();
  EXPECT_EQ(frame->header.client_id, "me");
  EXPECT_EQ(frame->header.correlation_id, 11);
  EXPECT_EQ(*api_versions_request::decode(frame->body, 4), request);
}

TEST(frame, a_body_that_cannot_be_encoded_leaves_nothing_behind) {
  metadata_response response;
  response.topics.emplace_back().topic_authorized_operations = 1;
  byte_buffer buffer;
  buffer.append("before");
  EXPECT_EQ(encode_response_frame(buffer, response, 1, 5).error().code, errc::unsupported_field);
  EXPECT_EQ(as_string_view(buffer.view()), "before");
}

}  // namespace
}  // namespace braidmq::protocol
