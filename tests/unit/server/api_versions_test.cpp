#include "protocol/generated/api_versions.hpp"

#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;
using ApiVersionsTest = ServerTest;

TEST_F(ApiVersionsTest, F4_AnUnknownVersionIsAnsweredInVersionZero) {
  start();
  byte_buffer frame;
  frame.append_be<std::int16_t>(18);
  frame.append_be<std::int16_t>(77);
  frame.append_be<std::int32_t>(correlation_ = 5);
  frame.append("whatever a later version has");
  const auto heard = send(frame.freeze());
  ASSERT_TRUE(heard->said && heard->said->has_value());
  const auto response = read<protocol::api_versions_response>(**heard->said, 0);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->error_code, error_code::unsupported_version);
  EXPECT_EQ(response->api_keys.size(), api_list().size());
}

TEST_F(ApiVersionsTest, EveryAdvertisedVersionHasASchema) {
  for (const served_api& api : api_list()) {
    const protocol::api_description* known = protocol::find_api(api.key);
    ASSERT_NE(known, nullptr);
    EXPECT_GE(api.min_served, known->min_version) << known->name;
    EXPECT_LE(api.max_served, known->latest_stable_version) << known->name;
    EXPECT_LE(api.min_advertised, api.min_served) << known->name;
  }
}

TEST_F(ApiVersionsTest, TheAtomicWriteIsAFeature) {
  start();
  protocol::api_versions_request request;
  request.client_software_name = request.client_software_version = "x1";
  for (const std::int16_t version : {3, 4, 5}) {
    const auto response = ask<protocol::api_versions_response>(request, version);
    ASSERT_EQ(response->supported_features.size(), 1U);
    EXPECT_EQ(response->supported_features[0].name, "braidmq.atomic.produce");
    EXPECT_EQ(response->supported_features[0].min_version, 1) << "0 breaks Java before 3.8 (KAFKA-17011)";
    EXPECT_EQ(response->supported_features[0].max_version, 1);
    ASSERT_EQ(response->finalized_features.size(), 1U);
    EXPECT_EQ(response->finalized_features[0].name, "braidmq.atomic.produce");
    EXPECT_EQ(response->finalized_features[0].max_version_level, 1);
    EXPECT_GE(response->finalized_features_epoch, 0);
  }
  EXPECT_TRUE(ask<protocol::api_versions_response>(protocol::api_versions_request(), 2)->supported_features.empty());
}

// A version that is advertised gets as far as its body: here there is none, and that is all that is wrong with it.
TEST_F(ApiVersionsTest, NothingIsAdvertisedThatIsNotServed) {
  start();
  protocol::api_versions_request request;
  request.client_software_name = request.client_software_version = "x1";
  const auto said = ask<protocol::api_versions_response>(request, 4);
  ASSERT_TRUE(said);
  ASSERT_GE(said->api_keys.size(), 11U);
  std::size_t versions = 0;
  for (const auto& api : said->api_keys) {
    for (std::int16_t version = api.min_version; version <= api.max_version; ++version) {
      if (api.api_key == 0 && version < 3) continue;  // for librdkafka's sake: see api_list.cpp
      byte_buffer frame;
      protocol::request_header header;
      header.request_api_key = api.api_key;
      header.request_api_version = version;
      header.correlation_id = ++correlation_;
      ASSERT_TRUE(header.encode(frame, protocol::find_api(api.api_key)->request_header_version(version)));
      const auto heard = send(frame.freeze());
      ASSERT_TRUE(heard->said) << api.api_key << " version " << version;
      if (!heard->said->has_value()) {
        EXPECT_NE(heard->said->error().code, protocol::make_error_code(protocol::errc::unsupported_version))
            << api.api_key << " version " << version;
      }
      ++versions;
    }
  }
  EXPECT_GT(versions, 60U);
  for (const auto& api : said->api_keys) {
    byte_buffer frame;
    frame.append_be<std::int16_t>(api.api_key);
    frame.append_be<std::int16_t>(static_cast<std::int16_t>(api.max_version + 1));
    frame.append_be<std::int32_t>(1);
    if (api.api_key == 18) continue;
    const auto heard = send(frame.freeze());
    ASSERT_TRUE(heard->said && !heard->said->has_value()) << api.api_key;
    EXPECT_EQ(heard->said->error().code, protocol::make_error_code(protocol::errc::unsupported_version));
  }
}

TEST_F(ApiVersionsTest, AClientOfAnotherClusterOrBrokerIsSentBackToItsBootstrap) {
  start();
  protocol::api_versions_request request;
  request.client_software_name = request.client_software_version = "x1";
  const auto code = [&] { return ask<protocol::api_versions_response>(request, 5)->error_code; };
  EXPECT_EQ(code(), error_code::none);
  request.cluster_id = broker_->image()->cluster_id().to_string();
  request.node_id = model::broker_id(0);
  EXPECT_EQ(code(), error_code::none);
  request.node_id = model::broker_id(4);
  EXPECT_EQ(code(), error_code::rebootstrap_required);
  request.node_id = model::broker_id(-1);
  request.cluster_id = "another";
  EXPECT_EQ(code(), error_code::rebootstrap_required);
}

TEST_F(ApiVersionsTest, SoftwareNamesAreKeptWhenTheyAreNames) {
  start();
  protocol::api_versions_request request;
  request.client_software_version = "1.2.3";
  for (const char* bad : {"", "a b", "a\n", "-a", "a.", "a/b"}) {
    request.client_software_name = bad;
    EXPECT_EQ(ask<protocol::api_versions_response>(request, 3)->error_code, error_code::invalid_request) << bad;
  }
  for (const char* good : {"x", "7", "a--b", "a..b", "librdkafka", "franz-go"}) {
    request.client_software_name = good;
    EXPECT_EQ(ask<protocol::api_versions_response>(request, 3)->error_code, error_code::none) << good;
    EXPECT_EQ(connection_->software_name, good);
  }
  request.client_software_version = "v1.2.3+dirty";
  const auto refused = ask<protocol::api_versions_response>(request, 5);
  EXPECT_EQ(refused->error_code, error_code::invalid_request) << "the version is held to the same";
  EXPECT_TRUE(refused->api_keys.empty());
  EXPECT_EQ(connection_->software_version, "1.2.3") << "what was good before stays";
}

}  // namespace
}  // namespace braidmq::server
