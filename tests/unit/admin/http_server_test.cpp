// Health, metrics, start and stop, over a real socket of the loopback.
#include "http_fixture.hpp"
#include "net/errc.hpp"

namespace braidmq::admin {
namespace {

TEST_F(http_server_test, serves_health_and_metrics) {
  start();
  EXPECT_EQ(ask("GET", "/livez").status, 200);
  auto ready = ask("GET", "/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_EQ(ready.body["reasons"][0], "metadata: not loaded");
  EXPECT_EQ(ready.body["reasons"].size(), 2U);
  {
    const std::scoped_lock lock(mutex_);
    reasons_.clear();
  }
  ready = ask("GET", "/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_EQ(ready.body["status"], "ready");
  const auto metrics = ask("GET", "/metrics");
  EXPECT_EQ(metrics.status, 200);
  EXPECT_NE(metrics.text.find("braidmq_answer 42\n"), std::string::npos) << metrics.text;
  EXPECT_NE(metrics.text.find(R"(braidmq_http_requests_total{method="GET",route="/readyz",status="503"} 1)"),
            std::string::npos)
      << metrics.text;
  EXPECT_NE(metrics.text.find(R"(braidmq_http_request_seconds_count{method="GET",route="/readyz"} 2)"),
            std::string::npos)
      << metrics.text;
}

TEST_F(http_server_test, says_so_when_there_is_nothing) {
  start();
  for (const auto* path : {"/", "/v1/events", "/v1/atomic", "/livez/x", "/livez/", "/v1/topics/a/b", "/v1/topics/"}) {
    const auto other = ask("GET", path);
    EXPECT_EQ(other.status, 404) << path;
    EXPECT_EQ(other.body["error"], "NOT_FOUND") << path;
    EXPECT_FALSE(other.body["message"].get<std::string>().empty()) << path;
  }
  const auto wrong = ask("DELETE", "/v1/topics");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.find("Allow")->second, "GET, POST");
  EXPECT_EQ(ask("POST", "/livez").status, 405);
  EXPECT_EQ(ask("OPTIONS", "/livez").status, 405);
  EXPECT_EQ(api_->asked(), "");
  const auto metrics = ask("GET", "/metrics").text;
  EXPECT_NE(metrics.find(R"(braidmq_http_requests_total{method="none",route="none",status="404"})"), std::string::npos)
      << metrics;
}

TEST_F(http_server_test, head_has_no_body) {
  start();
  const auto head = raw().ask("HEAD /livez HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 ")) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
}

TEST_F(http_server_test, an_exception_of_a_source_leaks_no_text) {
  start();
  throws_ = true;
  const auto metrics = ask("GET", "/metrics");
  EXPECT_EQ(metrics.status, 500);
  EXPECT_EQ(metrics.body["error"], "UNKNOWN_SERVER_ERROR");
  EXPECT_EQ(metrics.text.find("secret"), std::string::npos);
  for (const auto& [name, value] : metrics.headers) EXPECT_EQ(value.find("secret"), std::string::npos) << name;
}

TEST_F(http_server_test, an_occupied_port_names_its_holder_and_a_free_port) {
  start();
  auto second_options = options();
  second_options.listen = {"127.0.0.1", server_->port()};
  const auto second = http_server::start(std::move(second_options));
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, net::errc::address_in_use);
  EXPECT_NE(second.error().message.find("process " + std::to_string(getpid())), std::string::npos)
      << second.error().message;
  EXPECT_NE(second.error().message.find(" is free"), std::string::npos) << second.error().message;
}

TEST_F(http_server_test, stops_at_once_after_start_and_frees_the_port) {
  start();
  const auto port = server_->port();
  server_->stop();
  server_.reset();
  auto again_options = options();
  again_options.listen = {"127.0.0.1", port};
  const auto again = http_server::start(std::move(again_options));
  EXPECT_TRUE(again.has_value()) << again.error().to_string();
}

TEST_F(http_server_test, stops_in_time_with_clients_that_say_nothing) {
  start();
  const auto silent = raw();
  const auto half = raw();
  ASSERT_TRUE(half.send("GET /livez HTTP/1.1\r\nA: "));
  EXPECT_EQ(ask("GET", "/livez").status, 200);  // the others have been accepted before
  const auto began = std::chrono::steady_clock::now();
  server_->stop();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
}

TEST(http_server, is_not_ready_when_nobody_says_so) {
  auto server = http_server::start({.listen = {"127.0.0.1", 0}});
  ASSERT_TRUE(server.has_value());
  httplib::Client client("127.0.0.1", (*server)->port());
  const auto ready = client.Get("/readyz");
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->status, 503);
  const auto no_api = client.Get("/v1/cluster");
  ASSERT_TRUE(no_api);
  EXPECT_EQ(no_api->status, 404);
}

}  // namespace
}  // namespace braidmq::admin
