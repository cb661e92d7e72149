// Watches and informers over real TLS: the rows of operators.md 4.1 and 4.2 that need a wire.
#include <atomic>

#include "k8s/informer.hpp"
#include "unit/k8s/api_fixture.hpp"

namespace braidmq::k8s::testing {
namespace {

// A watch on which nothing happens for longer than the 5 s after which the library would give up by itself. It lives
// beside the other tests, so that nobody waits for it.
class idle_watch {
 public:
  static constexpr io::duration idle_for = 5300ms;

  idle_watch()
      : server_(authority_.issue("IP:127.0.0.1"),
                [this](const auto&, server_connection& connection) {
                  connection.start_stream();
                  std::unique_lock lock(mutex_);
                  never_.wait_for(lock, idle_for, [] { return false; });
                  connection.send_line(R"({"type":"ADDED","object":{"metadata":{"name":"late"}}})");
                  connection.end_stream();
                }),
        client_(config(), {}),
        watcher_([this] { watch(); }) {}

  std::string result_of() {
    watcher_.join();
    return seen_;
  }

 private:
  client_config config() const {
    client_config made;
    made.host = "127.0.0.1";
    made.port = server_.port();
    made.ca_pem = authority_.pem();
    return made;
  }
  void watch() {
    const std::atomic<bool> cancel{false};
    const auto started = io::system_clock().now();
    const auto ended = client_.watch(things, {.timeout = 60s}, cancel, [&](const std::string&, json&& object) {
      seen_ = name_of(object);
      return true;
    });
    if (!ended) seen_ = ended.error().to_string();
    if (io::system_clock().now() - started < idle_for) seen_ += ", too early";
  }

  std::mutex mutex_;
  std::condition_variable never_;
  certificate_authority authority_{"idle"};
  fake_api_server server_;
  http_client client_;
  std::string seen_;
  std::thread watcher_;
};

class watch_over_http_test : public api_fixture {
 protected:
  static void SetUpTestSuite() {
    std::signal(SIGPIPE, SIG_IGN);
    idle = std::make_unique<idle_watch>();
  }
  static void TearDownTestSuite() {
    EXPECT_EQ(idle->result_of(), "late");
    idle.reset();
  }

  result<watch_end> watch(std::chrono::seconds timeout = 60s) {
    return client->watch(things, {.namespace_name = "n", .resource_version = "10", .timeout = timeout}, cancel,
                         [this](const std::string& type, json&& object) {
                           seen.push_back(type + " " + std::string(name_of(object)));
                           return go_on.load();
                         });
  }

  std::atomic<bool> cancel{false};
  std::atomic<bool> go_on{true};
  std::vector<std::string> seen;
  static inline std::unique_ptr<idle_watch> idle;
};

TEST_F(watch_over_http_test, asks_for_bookmarks_a_version_and_a_timeout) {
  start([](const auto&, auto& connection) {
    connection.start_stream();
    connection.end_stream();
  });
  const auto ended = watch(281s);
  ASSERT_TRUE(ended) << ended.error().to_string();
  EXPECT_EQ(*ended, watch_end::closed_by_server);
  const auto request = server->requests().at(0);
  EXPECT_EQ(request.path(), "/apis/example.io/v1/namespaces/n/things");
  EXPECT_EQ(request.parameter("watch"), "true");
  EXPECT_EQ(request.parameter("allowWatchBookmarks"), "true");
  EXPECT_EQ(request.parameter("resourceVersion"), "10");
  EXPECT_EQ(request.parameter("timeoutSeconds"), "281");
}

TEST_F(watch_over_http_test, an_event_of_60_kb_comes_in_pieces_and_is_put_together) {
  json large = thing("a", 11);
  large["spec"]["text"] = std::string(60'000, 'x');
  start([&](const auto&, auto& connection) {
    connection.start_stream();
    const std::string text = event("ADDED", large) + "\n" + event("MODIFIED", thing("b", 12)) + "\n";
    for (std::size_t at = 0; at < text.size(); at += 1000) connection.send_piece(text.substr(at, 1000));
    connection.end_stream();
  });
  ASSERT_TRUE(watch());
  EXPECT_EQ(seen, (std::vector<std::string>{"ADDED a", "MODIFIED b"}));
  server->stop();  // its handler uses what ends here
}

TEST_F(watch_over_http_test, other_requests_do_not_wait_for_a_watch) {
  start([](const auto& request, auto& connection) {
    if (request.parameter("watch").empty()) return connection.respond(200, thing("a").dump());
    connection.start_stream();
    connection.wait_for_client();
  });
  std::thread watcher([this] { EXPECT_FALSE(watch()); });
  ASSERT_TRUE(server->wait_for_requests(1));
  EXPECT_TRUE(client->get(things, a));
  cancel = true;
  watcher.join();
}

TEST_F(watch_over_http_test, cancel_ends_it_within_a_second_and_is_no_network_error) {
  for (const bool answered : {true, false}) {
    start([=](const auto&, auto& connection) {
      if (answered) connection.start_stream();
      connection.wait_for_client();
    });
    cancel = false;
    io::time_point ended_at{};
    std::thread watcher([&] {
      const auto ended = watch();
      ended_at = io::system_clock().now();
      ASSERT_FALSE(ended);
      EXPECT_EQ(code_of(ended.error()), errc::canceled) << ended.error().to_string();
    });
    ASSERT_TRUE(server->wait_for_requests(1));
    const auto canceled_at = io::system_clock().now();
    cancel = true;
    watcher.join();
    EXPECT_LT(ended_at - canceled_at, 2s);  // 0.2 s where nobody else wants the processor
  }
}

TEST_F(watch_over_http_test, cancel_ends_it_during_the_handshake_too) {
  start([](const auto&, auto&) {});
  server->set_silent_handshake(true);
  std::thread watcher([&] {
    const auto ended = watch();
    ASSERT_FALSE(ended);
    EXPECT_EQ(code_of(ended.error()), errc::canceled) << ended.error().to_string();
  });
  const auto give_up = io::system_clock().now() + 5s;
  while (server->connections() == 0 && io::system_clock().now() < give_up) std::this_thread::yield();
  const auto canceled_at = io::system_clock().now();
  cancel = true;
  watcher.join();
  EXPECT_LT(io::system_clock().now() - canceled_at, 2s);
}

TEST_F(watch_over_http_test, a_handler_that_has_enough_ends_it) {
  start([](const auto&, auto& connection) {
    connection.start_stream();
    connection.send_line(event("ADDED", thing("a", 11)));
    connection.send_line(event("ADDED", thing("b", 12)));
    connection.wait_for_client();
  });
  go_on = false;
  const auto ended = watch();
  ASSERT_TRUE(ended);
  EXPECT_EQ(*ended, watch_end::stopped_by_handler);
  EXPECT_EQ(seen.size(), 1U);
}

TEST_F(watch_over_http_test, a_line_that_is_cut_is_dropped) {
  start([](const auto&, auto& connection) {
    connection.start_stream();
    connection.send_line(event("ADDED", thing("a", 11)));
    connection.send_piece(event("ADDED", thing("b", 12)));  // whole, but its end never comes
    connection.close();
  });
  const auto ended = watch();
  ASSERT_FALSE(ended);
  EXPECT_EQ(code_of(ended.error()), errc::network);
  EXPECT_EQ(seen, (std::vector<std::string>{"ADDED a"}));
}

TEST_F(watch_over_http_test, a_reset_is_a_network_error) {
  start([](const auto&, auto& connection) {
    connection.start_stream();
    connection.send_line(event("ADDED", thing("a", 11)));
    connection.reset();
  });
  const auto ended = watch();
  ASSERT_FALSE(ended);
  EXPECT_EQ(code_of(ended.error()), errc::network);
}

TEST_F(watch_over_http_test, a_malformed_chunk_ends_it_and_drops_the_partial_line) {
  start([](const auto&, auto& connection) {
    connection.start_stream();
    connection.send_line(event("ADDED", thing("a", 11)));
    connection.send_raw("5\r\n{\"tyXX\r\nzz\r\n");
    connection.close();
  });
  (void)watch();
  EXPECT_EQ(seen, (std::vector<std::string>{"ADDED a"}));
}

TEST_F(watch_over_http_test, silence_past_the_timeout_is_found_out) {
  start([](const auto&, auto& connection) {
    connection.start_stream();
    connection.wait_for_client();
  });
  options.watch_grace = 200ms;
  connect();
  const auto started = io::system_clock().now();
  const auto ended = watch(1s);
  ASSERT_FALSE(ended);
  EXPECT_EQ(code_of(ended.error()), errc::timed_out);
  EXPECT_LT(io::system_clock().now() - started, 3s);
}

TEST_F(watch_over_http_test, a_line_that_never_ends_is_refused) {
  start([](const auto&, auto& connection) {
    connection.start_stream();
    for (int i = 0; i < 3; ++i) connection.send_piece(std::string(1000, 'x'));
    connection.wait_for_client();
  });
  options.max_watch_line_bytes = 2000;
  connect();
  const auto ended = watch();
  ASSERT_FALSE(ended);
  EXPECT_EQ(code_of(ended.error()), errc::bad_response);
}

TEST_F(watch_over_http_test, refusals_before_the_stream) {
  std::atomic<int> code{410};
  start([&](const auto& request, auto& connection) {
    if (request.headers.at("authorization") == "Bearer second-token") {
      connection.start_stream();
      return connection.end_stream();
    }
    connection.respond(
        code, status_object(code, "Reason", "too old resource version"),
        code == 429 ? std::map<std::string, std::string>{{"Retry-After", "1"}} : std::map<std::string, std::string>{});
    if (code == 429) code = 403;
  });
  EXPECT_EQ(code_of(watch().error()), errc::gone);
  code = 429;
  const auto started = io::system_clock().now();
  EXPECT_EQ(code_of(watch().error()), errc::forbidden);
  EXPECT_GE(io::system_clock().now() - started, 990ms);
  code = 401;
  EXPECT_EQ(code_of(watch().error()), errc::unauthorized);
  write_file("token", "second-token");
  EXPECT_TRUE(watch());
  server->stop();  // its handler uses what ends here
}

// --- An informer on the wire ----------------------------------------------------------------------------------------

struct thing_row : row_header {
  std::string text;
};

TEST_F(watch_over_http_test, an_informer_lives_through_everything) {
  std::atomic<int> lists{0}, watches{0};
  start([&](const received_request& request, server_connection& connection) {
    if (request.parameter("watch").empty()) {
      switch (++lists) {
        case 1:  // two pages, of which the second is gone
          return connection.respond(200, list_of({thing("a", 1)}, "5", "token"));
        case 2:
          return connection.respond(410, status_object(410, "Expired", "continue token is too old"));
        case 3:
          return connection.respond(200, list_of({thing("a", 1)}, "6", "token"));
        case 4:
          return connection.respond(200, list_of({thing("b", 2)}, "6"));
        default:  // after the 410s: `a` has gone meanwhile, `c` has come
          return connection.respond(200, list_of({thing("b", 2), thing("c", 20)}, "21"));
      }
    }
    switch (++watches) {
      case 1:  // clean end
        connection.start_stream();
        connection.send_line(event("MODIFIED", thing("b", 7)));
        connection.send_line(event("BOOKMARK", json{{"metadata", {{"resourceVersion", "9"}}}}));
        return connection.end_stream();
      case 2:  // a cut in the middle of a line
        connection.start_stream();
        connection.send_piece(event("DELETED", thing("b", 8)).substr(0, 40));
        return connection.close();
      case 3:  // 500 in the stream: no reason to list
        connection.start_stream();
        connection.send_line(event("ERROR", json::parse(status_object(500, "InternalError", "etcd"))));
        return connection.wait_for_client();
      case 4:  // 410 in the stream
        connection.start_stream();
        connection.send_line(event("ERROR", json::parse(status_object(410, "Expired", "too old"))));
        return connection.wait_for_client();
      default:
        connection.start_stream();
        return connection.wait_for_client();
    }
  });
  reflector_options of{.type = things, .namespace_name = "n"};
  of.timing.backoff_min = 1ms;
  of.timing.backoff_max = 4ms;
  informer<thing_row> watched(*client, of, [](const json& object) {
    EXPECT_FALSE(object["metadata"].contains("managedFields"));
    return thing_row{};
  });
  std::mutex mutex;
  std::vector<std::string> told;
  watched.on_change([&](const auto& before, const auto& after) {
    const std::lock_guard lock(mutex);
    told.push_back((before ? before->key.name + before->resource_version : "-") + ">" +
                   (after ? after->key.name + after->resource_version : "-"));
  });
  watched.start();
  ASSERT_TRUE(server->wait_for_requests(10));
  watched.stop();
  EXPECT_EQ(told, (std::vector<std::string>{"->a1", "->b2", "b2>b7", "a1>-", "b7>b2", "->c20"}));

  const auto seen = server->requests();
  const auto version_of = [&](std::size_t i) { return seen.at(i).parameter("resourceVersion"); };
  EXPECT_EQ(version_of(4), "6");   // the first watch begins at the list
  EXPECT_EQ(version_of(5), "9");   // the second at the bookmark
  EXPECT_EQ(version_of(6), "9");   // the partial line has not moved it
  EXPECT_EQ(version_of(7), "9");   // nor has the 500
  EXPECT_EQ(version_of(8), "9");   // the list after 410: not older than what was seen
  EXPECT_EQ(version_of(9), "21");  // and the watch after it
  const auto figures = watched.read_figures();
  EXPECT_EQ(figures.watch_restarts.at("timeout"), 1U);
  EXPECT_EQ(figures.watch_restarts.at("network"), 1U);
  EXPECT_EQ(figures.watch_restarts.at("server_error"), 1U);
  EXPECT_EQ(figures.watch_restarts.at("expired"), 1U);
  EXPECT_TRUE(watched.has_synced());
  server->stop();  // its handler uses what ends here
}

}  // namespace
}  // namespace braidmq::k8s::testing
