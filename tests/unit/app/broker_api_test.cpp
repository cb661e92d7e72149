#include "app/broker_api.hpp"

#include <gtest/gtest.h>

#include "admin_client/errc.hpp"
#include "braid/errc.hpp"
#include "metadata/errc.hpp"

namespace braidmq::app {
namespace {

using api = admin_client::errc;

TEST(to_api_error, says_kafkas_name_with_the_brokers_words) {
  const struct {
    std::error_code from;
    api to;
  } cases[] = {
      {metadata::errc::topic_exists, api::topic_already_exists},
      {metadata::errc::unknown_topic, api::unknown_topic_or_partition},
      {metadata::errc::unknown_topic_id, api::unknown_topic_id},
      {metadata::errc::invalid_topic_name, api::invalid_topic_exception},
      {metadata::errc::name_collision, api::invalid_topic_exception},
      {metadata::errc::invalid_partitions, api::invalid_partitions},
      {metadata::errc::invalid_replication_factor, api::invalid_replication_factor},
      {metadata::errc::invalid_config, api::invalid_config},
      {metadata::errc::not_controller, api::not_controller},
      {metadata::errc::stopped, api::not_controller},
      {metadata::errc::timed_out, api::request_timed_out},
      {braid::errc::not_leader, api::not_controller},
      {braid::errc::stopped, api::not_controller},
      {braid::errc::timed_out, api::request_timed_out},
  };
  for (const auto& one : cases) {
    const error said = to_api_error({one.from, "words"});
    EXPECT_EQ(said.code, make_error_code(one.to)) << one.from.message();
    EXPECT_EQ(said.message, "words");
    EXPECT_EQ(to_api_error({one.from, ""}).message, one.from.message());
  }
}

TEST(to_api_error, leaves_what_has_no_name_for_the_log) {
  const std::error_code inside = std::make_error_code(std::errc::io_error);
  EXPECT_EQ(to_api_error({inside, "words"}).code, inside);
}

}  // namespace
}  // namespace braidmq::app
