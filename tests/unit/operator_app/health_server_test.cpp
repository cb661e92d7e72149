#include "operator_app/health_server.hpp"

#include <httplib.h>

namespace braidmq::operator_app {
namespace {

using ::testing::HasSubstr;

TEST(health_server, answers_with_reasons) {
  std::vector<std::string> missing = {"topics not listed yet"};
  auto server = health_server::start({.listen = {"127.0.0.1", 0},
                                      .not_healthy = [] { return std::vector<std::string>(); },
                                      .not_ready = [&] { return missing; },
                                      .metrics = [] { return std::string("braidmq_operator_leader 1\n"); }});
  ASSERT_TRUE(server) << server.error().to_string();
  httplib::Client client("127.0.0.1", (*server)->port());
  EXPECT_EQ(client.Get("/healthz")->status, 200);
  const auto waiting = client.Get("/readyz");
  EXPECT_EQ(waiting->status, 503);
  EXPECT_EQ(waiting->body, "topics not listed yet\n");
  missing.clear();
  EXPECT_EQ(client.Get("/readyz")->status, 200);
  EXPECT_EQ(client.Get("/metrics")->body, "braidmq_operator_leader 1\n");
  EXPECT_EQ(client.Get("/other")->status, 404);
  EXPECT_EQ(client.Post("/metrics", "x", "text/plain")->status, 413) << "no body is ever read";
  EXPECT_EQ(client.Post("/metrics")->status, 404);
}

TEST(health_server, does_not_share_its_port) {
  const auto nothing = [] { return std::vector<std::string>(); };
  auto first =
      health_server::start({.listen = {"127.0.0.1", 0}, .not_healthy = nothing, .not_ready = nothing, .metrics = {}});
  ASSERT_TRUE(first);
  auto second = health_server::start(
      {.listen = {"127.0.0.1", (*first)->port()}, .not_healthy = nothing, .not_ready = nothing, .metrics = {}});
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("cannot listen on 127.0.0.1"));
}

}  // namespace
}  // namespace braidmq::operator_app
