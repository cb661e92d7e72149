// Over a real socket of the loopback.
#include "admin/http_server.hpp"

#include <atomic>
#include <mutex>
#include <stdexcept>

#include <gtest/gtest.h>
#include <httplib.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "admin/metrics.hpp"
#include "net/errc.hpp"

namespace braidmq::admin {
namespace {

class http_server_test : public ::testing::Test {
 protected:
  void start() {
    http_options options;
    options.listen = {"127.0.0.1", 0};
    options.not_ready = [this] {
      const std::scoped_lock lock(mutex);
      return reasons;
    };
    options.metrics.emplace_back([this] {
      if (throws) throw std::runtime_error("secret of the inside");
      auto family = gauge_family("answer", "A test's figure");
      add_value(family, 42);
      return std::vector{family};
    });
    auto started = http_server::start(std::move(options));
    ASSERT_TRUE(started.has_value()) << started.error().to_string();
    server = std::move(*started);
    client = std::make_unique<httplib::Client>("127.0.0.1", server->port());
    client->set_keep_alive(true);
  }

  std::mutex mutex;
  std::vector<std::string> reasons{"metadata: not loaded", "a \"quoted\"\nreason \xff"};
  std::atomic<bool> throws{false};
  std::unique_ptr<http_server> server;
  std::unique_ptr<httplib::Client> client;
};

TEST_F(http_server_test, serves_health_metrics_and_nothing_else) {
  start();
  const auto live = client->Get("/livez");
  ASSERT_TRUE(live);
  EXPECT_EQ(live->status, 200);

  auto ready = client->Get("/readyz");
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->status, 503);
  const auto body = nlohmann::json::parse(ready->body);
  EXPECT_EQ(body["reasons"][0], "metadata: not loaded");
  EXPECT_EQ(body["reasons"].size(), 2U);
  {
    const std::scoped_lock lock(mutex);
    reasons.clear();
  }
  ready = client->Get("/readyz");
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->status, 200);
  EXPECT_EQ(nlohmann::json::parse(ready->body)["status"], "ready");

  const auto metrics = client->Get("/metrics");
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->status, 200);
  EXPECT_NE(metrics->body.find("braidmq_answer 42\n"), std::string::npos) << metrics->body;

  for (const auto* path : {"/", "/v1/events", "/v1/atomic", "/livez/x"}) {
    const auto other = client->Get(path);
    ASSERT_TRUE(other) << path;
    EXPECT_EQ(other->status, 404) << path;
    EXPECT_FALSE(nlohmann::json::parse(other->body)["error"].get<std::string>().empty()) << path;
  }
}

TEST_F(http_server_test, other_methods_are_refused_before_their_body_is_read) {
  start();
  const auto posted = client->Post("/livez", std::string(1000, 'x'), "text/plain");
  ASSERT_TRUE(posted);
  EXPECT_EQ(posted->status, 404);
  EXPECT_EQ(posted->get_header_value("Connection"), "close");
}

TEST_F(http_server_test, an_exception_of_a_source_leaks_no_text) {
  start();
  throws = true;
  const auto metrics = client->Get("/metrics");
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->status, 500);
  EXPECT_EQ(metrics->body.find("secret"), std::string::npos);
  for (const auto& [name, value] : metrics->headers) EXPECT_EQ(value.find("secret"), std::string::npos) << name;
}

TEST_F(http_server_test, an_occupied_port_names_its_holder_and_a_free_port) {
  start();
  http_options options;
  options.listen = {"127.0.0.1", server->port()};
  const auto second = http_server::start(std::move(options));
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, net::errc::address_in_use);
  EXPECT_NE(second.error().message.find("process " + std::to_string(getpid())), std::string::npos)
      << second.error().message;
  EXPECT_NE(second.error().message.find(" is free"), std::string::npos) << second.error().message;
}

TEST_F(http_server_test, stops_at_once_after_start_and_frees_the_port) {
  start();
  const auto port = server->port();
  server->stop();
  server.reset();
  http_options options;
  options.listen = {"127.0.0.1", port};
  const auto again = http_server::start(std::move(options));
  EXPECT_TRUE(again.has_value()) << again.error().to_string();
}

TEST(http_server, is_not_ready_when_nobody_says_so) {
  auto server = http_server::start({.listen = {"127.0.0.1", 0}});
  ASSERT_TRUE(server.has_value());
  httplib::Client client("127.0.0.1", (*server)->port());
  const auto ready = client.Get("/readyz");
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->status, 503);
}

}  // namespace
}  // namespace braidmq::admin
