// Every route of the API and every row of its errors, against a backend of the test's own.
#include "http_fixture.hpp"

namespace braidmq::admin {
namespace {

using admin_client::errc;

class api_test : public http_server_test {
 protected:
  void SetUp() override {
    write_secrets(good_secret + "\n");
    start();
  }
};

TEST_F(api_test, reads_need_no_secret) {
  const struct {
    const char* path;
    const char* asked;
  } cases[] = {
      {"/v1/cluster", "cluster"},
      {"/v1/braids", "cluster"},
      {"/v1/topics", "topics after '' limit 1000"},
      {"/v1/topics?after=a%20b&limit=5", "topics after 'a b' limit 5"},
      {"/v1/topics/orders", "topic orders"},
      {"/v1/topics/a%2Fb%20c", "topic a/b c"},
      {"/v1/drain", "drained?"},
  };
  for (const auto& one : cases) {
    const auto said = ask("GET", one.path, "", "");
    EXPECT_EQ(said.status, 200) << one.path << said.text;
    EXPECT_EQ(api_->asked(), one.asked);
  }
}

TEST_F(api_test, changes_reach_the_backend) {
  const struct {
    const char* method;
    const char* path;
    const char* body;
    int status;
    const char* asked;
  } cases[] = {
      {"POST", "/v1/topics", R"({"name":"orders","partitions":12,"configs":{"a":"b"}})", 201, "create orders 12"},
      {"POST", "/v1/topics", R"({"name":"orders"})", 201, "create orders -1"},
      {"POST", "/v1/topics", R"({"name":"orders","validateOnly":true})", 200, "create orders -1"},
      {"PATCH", "/v1/topics/orders", R"({"id":"x","partitions":3,"configs":{"a":null,"b":"c"}})", 200,
       "change orders x 3 2"},
      {"PATCH", "/v1/topics/orders", "{}", 200, "change orders - 0 0"},
      {"DELETE", "/v1/topics/orders", "", 204, "delete orders -"},
      {"DELETE", "/v1/topics/orders?id=abc", "", 204, "delete orders abc"},
      {"POST", "/v1/drain", R"({"timeoutMs":1500})", 200, "drain 1500"},
      {"POST", "/v1/drain", "", 200, "drain 0"},
      {"POST", "/v1/drain", R"({"timeoutMs":2000000000})", 200, "drain 600000"},
      {"PUT", "/v1/listeners/OUT", R"({"host":"10.0.0.1","port":30092})", 200, "listener OUT 10.0.0.1:30092"},
  };
  for (const auto& one : cases) {
    const auto said = ask(one.method, one.path, one.body);
    EXPECT_EQ(said.status, one.status) << one.method << one.path << said.text;
    EXPECT_EQ(api_->asked(), one.asked);
  }
}

TEST_F(api_test, answers_are_the_documents_of_the_api) {
  EXPECT_EQ(ask("GET", "/v1/drain").text, "{\"draining\":false,\"lastBroker\":false,\"leaderships\":0}\n");
  EXPECT_EQ(ask("PUT", "/v1/listeners/OUT", R"({"host":"h","port":1})").text,
            "{\"host\":\"h\",\"name\":\"OUT\",\"port\":1}\n");
  EXPECT_EQ(ask("DELETE", "/v1/topics/a").text, "");
  EXPECT_EQ(ask("GET", "/v1/topics").text, "{\"metadataIndex\":0,\"topics\":[]}\n");
}

TEST_F(api_test, every_error_has_its_status_name_and_words) {
  const struct {
    errc code;
    int status;
    const char* name;
  } cases[] = {
      {errc::unknown_topic_or_partition, 404, "UNKNOWN_TOPIC_OR_PARTITION"},
      {errc::topic_already_exists, 409, "TOPIC_ALREADY_EXISTS"},
      {errc::unknown_topic_id, 409, "UNKNOWN_TOPIC_ID"},
      {errc::invalid_topic_exception, 422, "INVALID_TOPIC_EXCEPTION"},
      {errc::invalid_partitions, 422, "INVALID_PARTITIONS"},
      {errc::invalid_replication_factor, 422, "INVALID_REPLICATION_FACTOR"},
      {errc::invalid_config, 422, "INVALID_CONFIG"},
      {errc::invalid_request, 400, "INVALID_REQUEST"},
      {errc::cluster_authorization_failed, 401, "CLUSTER_AUTHORIZATION_FAILED"},
      {errc::not_controller, 503, "NOT_CONTROLLER"},
      {errc::request_timed_out, 504, "REQUEST_TIMED_OUT"},
      {errc::not_found, 404, "NOT_FOUND"},
      {errc::conflict, 409, "CONFLICT"},
  };
  for (const auto& one : cases) {
    api_->fail_with({make_error_code(one.code), "words for a person"});
    for (const auto& said : {ask("POST", "/v1/topics", R"({"name":"a"})"), ask("GET", "/v1/topics/a"),
                             ask("DELETE", "/v1/topics/a"), ask("POST", "/v1/drain"), ask("GET", "/v1/cluster")}) {
      EXPECT_EQ(said.status, one.status) << one.name;
      EXPECT_EQ(said.body["error"], one.name);
      EXPECT_EQ(said.body["message"], "words for a person");
    }
  }
  api_->fail_with({make_error_code(errc::invalid_config), ""});
  EXPECT_EQ(ask("GET", "/v1/topics/a").body["message"], "invalid config");
  api_->fail_with({std::make_error_code(std::errc::io_error), "a path of the inside"});
  const auto inside = ask("GET", "/v1/topics/a");
  EXPECT_EQ(inside.status, 500);
  EXPECT_EQ(inside.body["error"], "UNKNOWN_SERVER_ERROR");
  EXPECT_EQ(inside.text.find("inside"), std::string::npos);
}

TEST_F(api_test, bad_requests_do_not_reach_the_backend) {
  const struct {
    const char* method;
    const char* path;
    const char* body;
    const char* words;
  } cases[] = {
      {"POST", "/v1/topics", "", "not JSON"},
      {"POST", "/v1/topics", "{", "not JSON"},
      {"POST", "/v1/topics", R"({"name":"a","name":"b"})", "given twice"},
      {"POST", "/v1/topics", R"({"name":"a","partition":1})", "no member \"partition\""},
      {"POST", "/v1/topics", R"({"partitions":1})", "\"name\" is missing"},
      {"POST", "/v1/topics", R"([[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]])", "deeper than 16"},
      {"PATCH", "/v1/topics/a", R"({"name":"a"})", "no member \"name\""},
      {"PATCH", "/v1/topics/a", R"({"configs":{"k":1}})", "must hold texts"},
      {"DELETE", "/v1/topics/a", R"({"id":"x"})", "takes no body"},
      {"POST", "/v1/drain", R"({"timeoutMs":-1})", "must not be below 0"},
      {"PUT", "/v1/listeners/OUT", R"({"host":"h"})", "\"port\" is missing"},
      {"GET", "/v1/topics?limit=0", "", "from 1 to 1000"},
      {"GET", "/v1/topics?limit=1001", "", "from 1 to 1000"},
      {"GET", "/v1/topics?limit=5x", "", "from 1 to 1000"},
      {"GET", "/v1/topics/%zz", "", "not well-formed"},
      {"GET", "/v1/topics/%2", "", "not well-formed"},
  };
  for (const auto& one : cases) {
    const auto said = ask(one.method, one.path, one.body);
    EXPECT_EQ(said.status, 400) << one.method << one.path << one.body;
    EXPECT_EQ(said.body["error"], "INVALID_REQUEST");
    const std::string words = said.body["message"];
    EXPECT_NE(words.find(one.words), std::string::npos) << words << " lacks " << one.words;
    EXPECT_EQ(api_->asked(), "") << one.body;
  }
}

TEST_F(api_test, changes_without_the_secret_are_refused) {
  const struct {
    const char* method;
    const char* path;
  } changes[] = {{"POST", "/v1/topics"},
                 {"PATCH", "/v1/topics/a"},
                 {"DELETE", "/v1/topics/a"},
                 {"POST", "/v1/drain"},
                 {"PUT", "/v1/listeners/OUT"}};
  std::string near = good_secret;
  near.back() ^= 1;
  for (const auto& one : changes) {
    for (const std::string& token : {std::string(), near, good_secret + "x", good_secret.substr(1), std::string("x")}) {
      const auto said = ask(one.method, one.path, R"({"name":"a"})", token);
      EXPECT_EQ(said.status, 401) << one.method << one.path << token;
      EXPECT_EQ(said.body["error"], "CLUSTER_AUTHORIZATION_FAILED");
      EXPECT_EQ(said.headers.find("WWW-Authenticate")->second, "Bearer");
      EXPECT_EQ(said.text.find(good_secret), std::string::npos);
    }
  }
  const std::string twice = "DELETE /v1/topics/a HTTP/1.1\r\nAuthorization: Bearer " + good_secret +
                            "\r\nAuthorization: Bearer " + good_secret + "\r\n\r\n";
  EXPECT_TRUE(raw().ask(twice).starts_with("HTTP/1.1 401 "));
  const std::string basic = "DELETE /v1/topics/a HTTP/1.1\r\nAuthorization: Basic " + good_secret + "\r\n\r\n";
  EXPECT_TRUE(raw().ask(basic).starts_with("HTTP/1.1 401 "));
  EXPECT_EQ(api_->asked(), "");
}

TEST_F(api_test, a_rotated_secret_counts_at_once) {
  const std::string next = "ffffffffffffffffffffffffffffffff";
  EXPECT_EQ(ask("POST", "/v1/drain", "", next).status, 401);
  write_secrets(next + "\n\n" + good_secret + "\r\n");
  EXPECT_EQ(ask("POST", "/v1/drain", "", next).status, 200);
  EXPECT_EQ(ask("POST", "/v1/drain", "", good_secret).status, 200);
  write_secrets(next);
  EXPECT_EQ(ask("POST", "/v1/drain", "", good_secret).status, 401);
  EXPECT_EQ(ask("POST", "/v1/drain", "", next).status, 200);
  write_secrets("too short\n");
  const auto said = ask("POST", "/v1/drain", "", next);
  EXPECT_EQ(said.status, 403);
  EXPECT_NE(said.text.find("line 1 has 9 bytes; it needs 32 or more"), std::string::npos) << said.text;
}

TEST_F(http_server_test, without_a_secret_file_nothing_can_be_changed) {
  start();
  const auto said = ask("POST", "/v1/topics", R"({"name":"a"})");
  EXPECT_EQ(said.status, 403);
  EXPECT_EQ(said.body["error"], "CLUSTER_AUTHORIZATION_FAILED");
  EXPECT_NE(said.text.find("set braid.secret.file"), std::string::npos) << said.text;
  EXPECT_EQ(ask("GET", "/v1/topics").status, 200);
}

TEST_F(http_server_test, a_secret_file_that_cannot_be_used_refuses_the_start) {
  for (const std::string text : {"", "\n\n", "short\n", "0123456789abcdef0123456789abcdef\nshort\n"}) {
    write_secrets(text);
    const auto started = http_server::start(options());
    ASSERT_FALSE(started.has_value()) << text;
    EXPECT_TRUE(started.error().message.starts_with("braid.secret.file: " + secret_path_.string()))
        << started.error().message;
    EXPECT_EQ(started.error().message.find("abcdef"), std::string::npos) << "the words hold no secret";
  }
  std::filesystem::remove(secret_path_);
  EXPECT_FALSE(http_server::start(options()).has_value());
}

}  // namespace
}  // namespace braidmq::admin
