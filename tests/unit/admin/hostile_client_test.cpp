// Clients that send too much, too slowly, ambiguously or nothing at all.
#include <thread>

#include "http_fixture.hpp"

namespace braidmq::admin {
namespace {

using namespace std::chrono_literals;

class hostile_client_test : public http_server_test {
 protected:
  void SetUp() override {
    write_secrets(good_secret + "\n");
    start();
  }
  static std::string post(const std::string& headers, const std::string& body) {
    return "POST /v1/topics HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + good_secret + "\r\n" + headers + "\r\n" +
           body;
  }
  static std::string chunked(const std::string& body, std::size_t chunk) {
    std::string out;
    for (std::size_t at = 0; at < body.size(); at += chunk) {
      const std::string part = body.substr(at, chunk);
      char size[32];
      (void)snprintf(size, sizeof size, "%zx\r\n", part.size());
      out += size + part + "\r\n";
    }
    return out + "0\r\n\r\n";
  }
  // The server still answers others.
  void expect_alive() { EXPECT_EQ(ask("GET", "/livez").status, 200); }
};

TEST_F(hostile_client_test, large_bodies_are_refused_by_length_and_by_chunks) {
  const std::string large = R"({"name":")" + std::string(1024 * 1024, 'x') + R"("})";
  const std::string by_length = raw().ask(post("Content-Length: " + std::to_string(large.size()) + "\r\n", large));
  EXPECT_TRUE(by_length.starts_with("HTTP/1.1 413 ")) << by_length.substr(0, 200);
  const std::string by_chunks = raw().ask(post("Transfer-Encoding: chunked\r\n", chunked(large, 60'000)));
  EXPECT_TRUE(by_chunks.starts_with("HTTP/1.1 413 ")) << by_chunks.substr(0, 200);
  EXPECT_EQ(api_->asked(), "");
  // The largest that fits, either way.
  const std::string most = R"({"name":"orders"})" + std::string(1024 * 1024 - 17, ' ');
  const std::string fits = raw().ask(post("Content-Length: " + std::to_string(most.size()) + "\r\n", most));
  EXPECT_TRUE(fits.starts_with("HTTP/1.1 201 ")) << fits.substr(0, 200);
  EXPECT_EQ(api_->asked(), "create orders -1");
  const std::string fits_in_chunks = raw().ask(post("Transfer-Encoding: chunked\r\n", chunked(most, 1000)));
  EXPECT_TRUE(fits_in_chunks.starts_with("HTTP/1.1 201 ")) << fits_in_chunks.substr(0, 200);
  expect_alive();
}

TEST_F(hostile_client_test, an_announced_giant_is_refused_before_it_is_sent) {
  const std::string said = raw().ask(post("Content-Length: 999999999999999999\r\n", ""));
  EXPECT_TRUE(said.starts_with("HTTP/1.1 413 ")) << said;
}

TEST_F(hostile_client_test, what_is_ambiguous_is_refused) {
  const struct {
    std::string headers;
    const char* status;
  } cases[] = {
      {"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "400"},
      {"Content-Length: 2\r\nContent-Length: 3\r\n", "400"},
      {"Content-Length: +2\r\n", "400"},
      {"Content-Length: 2,2\r\n", "400"},
      {"Content-Length: -1\r\n", "400"},
      {"Content-Length: 99999999999999999999\r\n", "400"},
      {"Transfer-Encoding: gzip, chunked\r\n", "501"},
      {"Transfer-Encoding: identity\r\n", "501"},
      {"Content-Encoding: gzip\r\nContent-Length: 2\r\n", "415"},
  };
  for (const auto& one : cases) {
    const std::string said = raw().ask(post(one.headers, "{}"));
    EXPECT_TRUE(said.starts_with(std::string("HTTP/1.1 ") + one.status)) << one.headers << said;
    EXPECT_EQ(api_->asked(), "");
  }
}

TEST_F(hostile_client_test, a_body_that_nobody_reads_is_not_the_next_request) {
  const std::string inner = "GET /v1/cluster HTTP/1.1\r\n\r\n";
  const std::string said =
      raw().ask("GET /livez HTTP/1.1\r\nContent-Length: " + std::to_string(inner.size()) + "\r\n\r\n" + inner);
  EXPECT_TRUE(said.starts_with("HTTP/1.1 200 ")) << said;
  EXPECT_EQ(said.find("HTTP/1.1", 8), std::string::npos) << said;
  EXPECT_EQ(api_->asked(), "");
}

TEST_F(hostile_client_test, endless_headers_and_paths_end) {
  std::string headers = "GET /livez HTTP/1.1\r\n";
  for (int i = 0; i < 5000; ++i) headers += "X-" + std::to_string(i) + ": 1234567890\r\n";
  EXPECT_FALSE(raw().ask(headers + "\r\n").starts_with("HTTP/1.1 200"));
  for (const std::size_t length : {1100U, 8000U, 100'000U}) {
    const std::string said = raw().ask("GET /v1/topics/" + std::string(length, 'a') + " HTTP/1.1\r\n\r\n");
    EXPECT_TRUE(said.empty() || said.starts_with("HTTP/1.1 414 ")) << length << said.substr(0, 100);
  }
  EXPECT_TRUE(raw().ask("GET /v1/topics/a\x01 HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(raw().ask("NONSENSE\r\n\r\n").starts_with("HTTP/1.1 400 "));
  expect_alive();
}

// With ten threads of the library and no bound, each of these held one for a second or for good.
TEST_F(hostile_client_test, forty_silent_connections_do_not_delay_a_probe) {
  std::vector<raw_client> silent;
  for (int i = 0; i < 40; ++i) {
    silent.push_back(raw());
    ASSERT_TRUE(silent.back().connected());
    if (i % 2 == 0) ASSERT_TRUE(silent.back().send("GET /livez HT"));
  }
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(ask("GET", "/readyz").status, 503);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 800ms);
}

TEST_F(hostile_client_test, a_silent_connection_is_closed) {
  const auto silent = raw();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(silent.read_all(), "");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

// A byte now and then resets the library's own timeout; ours is for the request.
TEST_F(hostile_client_test, a_slow_request_ends_by_its_deadline) {
  request_time_ = 500ms;
  start();
  const auto slow = raw();
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(slow.send("GET /livez HTTP/1.1\r\nX: "));
  while (slow.send("x") && std::chrono::steady_clock::now() - began < 20s) {
    std::this_thread::sleep_for(50ms);  // tidy: allow(sleep): slowness is what this client is for
  }
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_GT(took, 400ms);
  EXPECT_LT(took, 10s);
}

}  // namespace
}  // namespace braidmq::admin
