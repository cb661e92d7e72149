// The client against a scripted server on the loopback.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "admin_client/admin_client.hpp"

namespace braidmq::admin_client {
namespace {

class http_client_test : public ::testing::Test {
 protected:
  http_client_test() {
    server_.set_pre_routing_handler(
        [](const httplib::Request&, httplib::Response&) { return httplib::Server::HandlerResponse::Unhandled; });
    const httplib::Server::Handler answer = [this](const httplib::Request& request, httplib::Response& response) {
      seen_ = request.method + " " + request.target;
      body_ = request.body;
      token_ = request.get_header_value("Authorization");
      response.status = status_;
      response.set_content(answer_, "application/json");
    };
    server_.Get(".*", answer);
    server_.Post(".*", answer);
    server_.Put(".*", answer);
    server_.Patch(".*", answer);
    server_.Delete(".*", answer);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
    connect_with({});
  }
  ~http_client_test() override {
    server_.stop();
    thread_.join();
  }

  void connect_with(client_options options) {
    options.url = "http://127.0.0.1:" + std::to_string(port_);
    client_ = connect(std::move(options)).value();
  }

  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  std::atomic<int> status_{200};
  std::string answer_ = "{}";
  std::string seen_;
  std::string body_;
  std::string token_;
  std::unique_ptr<client> client_;
};

constexpr const char* topic_text =
    R"({"name":"a","id":"i","partitions":1,"replicationFactor":1,"configs":{},"createdIndex":2,"changedIndex":2,"new":1})";

TEST_F(http_client_test, calls_the_routes_of_the_api) {
  answer_ = topic_text;
  EXPECT_EQ(client_->topic("a b/ü?").value().id, "i");
  EXPECT_EQ(seen_, "GET /v1/topics/a%20b%2F%C3%BC%3F");
  EXPECT_TRUE(client_->create_topic({.name = "a"}).has_value());
  EXPECT_EQ(seen_, "POST /v1/topics");
  EXPECT_EQ(body_, R"({"configs":{},"name":"a","partitions":-1,"replicationFactor":-1,"validateOnly":false})");
  EXPECT_TRUE(client_->change_topic({.name = "a", .id = "i", .partitions = 3, .configs = {{"k", std::nullopt}}}));
  EXPECT_EQ(seen_, "PATCH /v1/topics/a");
  EXPECT_EQ(body_, R"({"configs":{"k":null},"id":"i","partitions":3,"validateOnly":false})");
  answer_ = R"({"draining":true,"lastBroker":true,"leaderships":0})";
  EXPECT_TRUE(client_->drain(std::chrono::seconds(1))->last_broker);
  EXPECT_EQ(body_, R"({"timeoutMs":1000})");
  EXPECT_TRUE(client_->drain_status()->draining);
  EXPECT_EQ(seen_, "GET /v1/drain");
  answer_ = "{}";
  EXPECT_TRUE(client_->set_listener({"OUT", "10.0.0.1", 30092}).has_value());
  EXPECT_EQ(seen_, "PUT /v1/listeners/OUT");
  EXPECT_EQ(body_, R"({"host":"10.0.0.1","port":30092})");
  status_ = 204;
  answer_ = "";
  EXPECT_TRUE(client_->delete_topic("a", "x+y").has_value());
  EXPECT_EQ(seen_, "DELETE /v1/topics/a?id=x%2By");
}

TEST_F(http_client_test, refusals_have_the_brokers_name_and_words) {
  status_ = 409;
  answer_ = R"({"error":"TOPIC_ALREADY_EXISTS","message":"topic 'a' exists with id i"})";
  const auto made = client_->create_topic({.name = "a"});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, errc::topic_already_exists);
  EXPECT_EQ(made.error().message, "POST /v1/topics: topic 'a' exists with id i");
  status_ = 500;
  answer_ = R"({"error":"SOMETHING_NEW","message":"words"})";
  EXPECT_EQ(client_->topic("a").error().code, errc::refused);
  EXPECT_NE(client_->topic("a").error().message.find("SOMETHING_NEW: words"), std::string::npos);
  for (const char* text : {"<html>", "", "[]", R"({"error":5})", R"({"message":"m"})"}) {
    answer_ = text;
    EXPECT_EQ(client_->topic("a").error().code, errc::bad_answer) << text;
  }
}

TEST_F(http_client_test, readiness_is_an_answer_either_way) {
  status_ = 503;
  answer_ = R"({"status":"not ready","reasons":["the broker drains"]})";
  const auto not_yet = client_->ready();
  ASSERT_TRUE(not_yet.has_value()) << not_yet.error().to_string();
  EXPECT_FALSE(not_yet->ready);
  EXPECT_EQ(not_yet->reasons, (std::vector<std::string>{"the broker drains"}));
  status_ = 200;
  answer_ = R"({"status":"ready"})";
  EXPECT_TRUE(client_->ready()->ready);
}

TEST_F(http_client_test, bad_answers_of_success_are_errors) {
  for (const char* text : {"", "{}", "[]", "nonsense", R"({"name":5})"}) {
    answer_ = text;
    EXPECT_EQ(client_->topic("a").error().code, errc::bad_answer) << text;
  }
  connect_with({.max_body_bytes = 100});
  answer_ = std::string(101, ' ');
  EXPECT_EQ(client_->topic("a").error().code, errc::bad_answer);
}

TEST_F(http_client_test, changes_carry_the_secret_of_the_moment) {
  const auto path = std::filesystem::temp_directory_path() / ("braid-secret-" + std::to_string(getpid()));
  std::ofstream(path) << "\n first-secret-of-32-bytes-or-more\r\nsecond\n";
  connect_with({.secret = secret_from_file(path.string())});
  answer_ = topic_text;
  EXPECT_TRUE(client_->create_topic({.name = "a"}));
  EXPECT_EQ(token_, "Bearer  first-secret-of-32-bytes-or-more");
  EXPECT_TRUE(client_->topic("a"));
  EXPECT_EQ(token_, "") << "a read needs none";
  std::ofstream(path) << "another-secret\n";
  EXPECT_TRUE(client_->create_topic({.name = "a"}));
  EXPECT_EQ(token_, "Bearer another-secret");
  std::filesystem::remove(path);
  seen_.clear();
  EXPECT_EQ(client_->create_topic({.name = "a"}).error().code, errc::cluster_authorization_failed);
  EXPECT_EQ(seen_, "") << "nothing is sent without it";
}

TEST_F(http_client_test, lists_all_pages_and_no_list_without_end) {
  server_.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
    const auto after = request.get_param_value("after");
    const std::string name = after.empty() ? "a" : after + "a";
    std::string topic = topic_text;
    topic.replace(topic.find(":\"a\""), 4, ":\"" + name + "\"");
    const std::string next = name.size() < 5 ? R"(,"next":")" + name + "\"" : "";
    response.set_content(R"({"metadataIndex":1,"topics":[)" + topic + "]" + next + "}", "application/json");
    return httplib::Server::HandlerResponse::Handled;
  });
  const auto all = all_topics(*client_);
  ASSERT_TRUE(all.has_value()) << all.error().to_string();
  ASSERT_EQ(all->size(), 5U);
  EXPECT_EQ(all->back().name, "aaaaa");
  EXPECT_EQ(all_topics(*client_, 3).error().code, errc::bad_answer);
}

TEST(http_client, says_unreachable_and_timed_out_apart) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  socklen_t length = sizeof address;
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length), 0);
  client_options options{.url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)),
                         .secret = nullptr,
                         .timeout = std::chrono::milliseconds(100)};
  const auto client = connect(options).value();
  EXPECT_EQ(client->cluster().error().code, errc::unreachable) << "nobody listens yet";
  ASSERT_EQ(listen(listener, 8), 0);
  EXPECT_EQ(client->cluster().error().code, errc::timed_out) << "the kernel takes the connection, nobody answers";
  close(listener);
  EXPECT_TRUE(is_transient(errc::unreachable));
  EXPECT_FALSE(is_transient(errc::invalid_request));
}

TEST(http_client, refuses_urls_that_it_cannot_call) {
  for (const char* url :
       {"", "127.0.0.1:9644", "https://h:1", "http://h", "http://:1", "http://h:1/path", "http://::1:1"}) {
    client_options options;
    options.url = url;
    const auto made = connect(options);
    ASSERT_FALSE(made.has_value()) << url;
    EXPECT_EQ(made.error().code, errc::invalid_request);
  }
  client_options options;
  options.url = "http://[::1]:9644/";
  EXPECT_TRUE(connect(options).has_value());
}

}  // namespace
}  // namespace braidmq::admin_client
