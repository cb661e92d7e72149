// Requests over real TLS against a server that misbehaves: the rows of operators.md 4.1, 4.3 and 4.5.
#include "k8s/http_client.hpp"

#include <atomic>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/k8s/api_fixture.hpp"

namespace braidmq::k8s::testing {
namespace {

class http_client_test : public api_fixture {
 protected:
  std::string token_of(std::size_t request) { return server->requests().at(request).headers.at("authorization"); }
};

// --- 4.1 ------------------------------------------------------------------------------------------------------------

TEST_F(http_client_test, a_hundred_gets_share_one_connection) {
  start([](const auto&, auto& connection) { connection.respond(200, thing("a").dump()); });
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(client->get(things, a));
  EXPECT_EQ(server->connections(), 1);
  EXPECT_EQ((client->read_figures().requests[{"GET", "200"}]), 100U);
}

// Nagle's algorithm with delayed acknowledgements costs 40 ms for each request that is written in two pieces; a peer
// that vanishes without a word is found out by the keep-alive probes and, while we wait for an acknowledgement, by the
// user timeout.
TEST_F(http_client_test, sockets_have_no_nagle_and_notice_a_peer_that_vanishes) {
  start([](const auto&, auto& connection) { connection.respond(200, thing("a").dump()); });
  ASSERT_TRUE(client->get(things, a));
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int socket = std::stoi(entry.path().filename());
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
    if (peer.sin_family != AF_INET || ntohs(peer.sin_port) != server->port()) continue;
    const auto option = [&](int level, int name) {
      int value = -1;
      socklen_t length = sizeof value;
      EXPECT_EQ(::getsockopt(socket, level, name, &value, &length), 0);
      return value;
    };
    ++found;
    EXPECT_NE(option(IPPROTO_TCP, TCP_NODELAY), 0);
    EXPECT_NE(option(SOL_SOCKET, SO_KEEPALIVE), 0);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_KEEPIDLE), 30);
    EXPECT_EQ(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 60'000);
  }
  EXPECT_GE(found, 1);
}

TEST_F(http_client_test, idle_for_longer_than_30_s_is_dropped) {
  start([](const auto&, auto& connection) { connection.respond(200, thing("a").dump()); });
  ASSERT_TRUE(client->get(things, a));
  clock.advance(30s);
  ASSERT_TRUE(client->get(things, a));
  EXPECT_EQ(server->connections(), 1);
  clock.advance(30s + 1ns);
  ASSERT_TRUE(client->get(things, a));
  EXPECT_EQ(server->connections(), 2);
}

TEST_F(http_client_test, a_create_takes_no_connection_that_was_idle_for_long) {
  start([](const auto&, auto& connection) { connection.respond(201, thing("a").dump()); });
  ASSERT_TRUE(client->create(things, thing("a"), "op"));
  clock.advance(3s);
  ASSERT_TRUE(client->create(things, thing("a"), "op"));
  EXPECT_EQ(server->connections(), 2);
}

TEST_F(http_client_test, a_request_that_races_the_servers_idle_close_is_sent_again) {
  start([](const auto& request, auto& connection) {
    // The second one of a connection meets its end: read, and never answered.
    if (request.number == 2) return connection.close();
    connection.respond(200, thing("a").dump());
  });
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(client->get(things, a));
    ASSERT_TRUE(client->apply(things, thing("a"), {.field_manager = "op"}));
    ASSERT_TRUE(client->remove(things, a, {.uid = "u-a"}));
  }
}

TEST_F(http_client_test, what_is_not_harmless_is_never_sent_twice) {
  std::atomic<int> posts{0};
  start([&](const auto& request, auto& connection) {
    if (request.method == "GET") return connection.respond(200, thing("a").dump());
    ++posts;
    connection.close();
  });
  ASSERT_TRUE(client->get(things, a));
  EXPECT_EQ(code_of(client->create(things, thing("a"), "op").error()), errc::network);
  EXPECT_EQ(posts, 1);
  ASSERT_TRUE(client->get(things, a));
  EXPECT_EQ(code_of(client->json_patch(things, a, json::array()).error()), errc::network);
  EXPECT_EQ(posts, 2);
  ASSERT_TRUE(client->get(things, a));
  EXPECT_EQ(code_of(client->remove(things, a, {}).error()), errc::network);
  EXPECT_EQ(posts, 3);
  server->stop();  // its handler uses what ends here
}

TEST_F(http_client_test, a_peer_that_goes_while_we_write_does_not_end_the_process) {
  start([](const auto&, auto& connection) { connection.reset(); });
  json large = thing("a");
  large["spec"]["text"] = std::string(1U << 20U, 'x');
  const auto made = client->create(things, large, "op");
  ASSERT_FALSE(made);
  EXPECT_EQ(code_of(made.error()), errc::network) << made.error().to_string();
}

TEST_F(http_client_test, a_refused_connection_is_tried_until_the_deadline) {
  start([](const auto&, auto&) {});
  server->stop();
  options.deadline = 200ms;
  connect();
  const auto started = io::system_clock().now();
  // The deadline may pass in the middle of the last try: then that is what is told.
  const auto code = code_of(client->get(things, a).error());
  EXPECT_TRUE(code == errc::network || code == errc::timed_out);
  EXPECT_GT(io::system_clock().now() - started, 100ms);
  EXPECT_GT((client->read_figures().requests[{"GET", "network"}]), 1U);
}

// A full backlog: the kernel answers no SYN.
TEST_F(http_client_test, connecting_takes_no_longer_than_its_timeout) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  std::vector<int> fillers;
  for (int i = 0; i < 4; ++i) {
    fillers.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    (void)::connect(fillers.back(), reinterpret_cast<sockaddr*>(&address), size);
  }
  client_config config;
  config.host = "127.0.0.1";
  config.port = ntohs(address.sin_port);
  config.ca_pem = authority.pem();
  options.deadline = 10s;
  options.connections.connect_timeout = 300ms;
  options.first_retry = options.last_retry = 20s;  // one try
  client = std::make_unique<http_client>(config, options, clock);
  const auto started = io::system_clock().now();
  const auto got = client->get(things, a);
  ASSERT_FALSE(got);
  EXPECT_EQ(code_of(got.error()), errc::network) << got.error().to_string();
  EXPECT_LT(io::system_clock().now() - started, 3s);
  for (const int filler : fillers) ::close(filler);
  ::close(listener);
}

TEST_F(http_client_test, a_server_that_never_answers_is_timed_out) {
  start([](const auto&, auto& connection) { connection.wait_for_client(); });
  options.deadline = 300ms;
  connect();
  const auto started = io::system_clock().now();
  EXPECT_EQ(code_of(client->get(things, a).error()), errc::timed_out);
  EXPECT_LT(io::system_clock().now() - started, 2s);
}

// Each byte resets a timeout that is counted per read; the deadline is over all of them.
TEST_F(http_client_test, a_server_that_answers_byte_by_byte_is_timed_out_too) {
  std::atomic<bool> over{false};
  start([&](const auto&, auto& connection) {
    connection.start_stream();
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    while (!over) {
      connection.send_piece("x");
      never.wait_for(lock, 20ms);
    }
  });
  options.deadline = 300ms;
  connect();
  const auto started = io::system_clock().now();
  EXPECT_EQ(code_of(client->get(things, a).error()), errc::timed_out);
  EXPECT_LT(io::system_clock().now() - started, 2s);
  over = true;
  server->stop();  // its handler uses what ends here
}

TEST_F(http_client_test, a_silent_handshake_is_timed_out) {
  start([](const auto&, auto&) {});
  server->set_silent_handshake(true);
  options.deadline = 300ms;
  connect();
  const auto started = io::system_clock().now();
  EXPECT_EQ(code_of(client->get(things, a).error()), errc::timed_out);
  EXPECT_LT(io::system_clock().now() - started, 2s);
}

TEST_F(http_client_test, bodies_are_bounded) {
  start([](const auto&, auto& connection) { connection.respond(200, std::string(100'000, ' ') + "{}"); });
  options.connections.max_body_bytes = 100'000;
  connect();
  EXPECT_EQ(code_of(client->get(things, a).error()), errc::bad_response);
  options.connections.max_body_bytes = 100'002;
  connect();
  EXPECT_TRUE(client->get(things, a));
}

TEST_F(http_client_test, a_malformed_chunk_is_no_answer) {
  start([](const auto&, auto& connection) {
    connection.start_stream();
    const std::string half = thing("a").dump().substr(0, 20);
    connection.send_raw("14\r\n" + half + "XX14\r\n");
    connection.close();
  });
  options.deadline = 100ms;
  connect();
  const auto got = client->get(things, a);
  ASSERT_FALSE(got);
  EXPECT_TRUE(code_of(got.error()) == errc::bad_response || code_of(got.error()) == errc::network);
}

TEST_F(http_client_test, an_answer_that_is_no_json_is_bad) {
  start([](const auto&, auto& connection) { connection.respond(200, "<html>a proxy</html>"); });
  EXPECT_EQ(code_of(client->get(things, a).error()), errc::bad_response);
}

// --- 4.3 ------------------------------------------------------------------------------------------------------------

TEST_F(http_client_test, the_token_is_read_again_after_60_s) {
  start([](const auto&, auto& connection) { connection.respond(200, thing("a").dump()); });
  ASSERT_TRUE(client->get(things, a));
  write_file("token", "second-token");
  clock.advance(59s);
  ASSERT_TRUE(client->get(things, a));
  clock.advance(1s);
  ASSERT_TRUE(client->get(things, a));
  EXPECT_EQ(token_of(0), "Bearer first-token");
  EXPECT_EQ(token_of(1), "Bearer first-token");
  EXPECT_EQ(token_of(2), "Bearer second-token");
}

TEST_F(http_client_test, a_token_file_that_is_away_or_broken_leaves_the_old_one) {
  start([](const auto&, auto& connection) { connection.respond(200, thing("a").dump()); });
  std::filesystem::remove(folder + "/token");
  clock.advance(60s);
  ASSERT_TRUE(client->get(things, a));
  write_file("token", "two\r\nlines: of it");
  clock.advance(60s);
  ASSERT_TRUE(client->get(things, a));
  EXPECT_EQ(token_of(0), "Bearer first-token");
  EXPECT_EQ(token_of(1), "Bearer first-token");
}

TEST_F(http_client_test, upon_401_the_token_is_read_at_once_and_the_request_sent_once_more) {
  start([](const auto& request, auto& connection) {
    if (request.headers.at("authorization") == "Bearer second-token") {
      return connection.respond(201, thing("a").dump());
    }
    connection.respond(401, status_object(401, "Unauthorized", "Unauthorized"));
  });
  EXPECT_EQ(code_of(client->create(things, thing("a"), "op").error()), errc::unauthorized);
  EXPECT_EQ(server->requests().size(), 2U);
  write_file("token", "second-token");
  EXPECT_TRUE(client->create(things, thing("a"), "op"));
}

TEST_F(http_client_test, the_servers_certificate_must_be_from_our_ca_for_our_address_and_in_time) {
  start([](const auto&, auto& connection) { connection.respond(200, thing("a").dump()); });
  ASSERT_TRUE(client->get(things, a));  // the address in the certificate is an IP
  const certificate_authority stranger("stranger");
  for (const auto& pair :
       {stranger.issue("IP:127.0.0.1"), authority.issue("IP:127.0.0.2"), authority.issue("DNS:127.0.0.1"),
        authority.issue("IP:127.0.0.1", true), authority.issue("DNS:elsewhere", false, "127.0.0.1")}) {
    server->use_certificate(pair);
    connect();
    const auto got = client->get(things, a);
    ASSERT_FALSE(got);
    EXPECT_EQ(code_of(got.error()), errc::tls) << got.error().to_string();
  }
  EXPECT_EQ(server->requests().size(), 1U);
}

TEST_F(http_client_test, upon_a_verify_error_the_ca_bundle_is_read_at_once) {
  start([](const auto&, auto& connection) { connection.respond(200, thing("a").dump()); });
  ASSERT_TRUE(client->get(things, a));
  const certificate_authority next("next-ca");
  server->use_certificate(next.issue("IP:127.0.0.1"));
  clock.advance(31s);  // the pooled connection goes
  EXPECT_EQ(code_of(client->get(things, a).error()), errc::tls);
  write_file("ca.crt", next.pem());
  EXPECT_TRUE(client->create(things, thing("a"), "op"));
}

TEST_F(http_client_test, the_ca_bundle_is_checked_each_5_minutes_and_connections_are_made_anew) {
  start([](const auto&, auto& connection) { connection.respond(200, thing("a").dump()); });
  write_file("ca.crt", authority.pem() + certificate_authority("next-ca").pem());
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(client->get(things, a));
    EXPECT_EQ(server->connections(), 1);
    clock.advance(29s);
  }
  clock.advance(10s);
  ASSERT_TRUE(client->get(things, a));
  EXPECT_EQ(server->connections(), 2);
}

TEST_F(http_client_test, half_a_ca_bundle_does_not_replace_one_that_works) {
  start([](const auto&, auto& connection) { connection.respond(200, thing("a").dump()); });
  write_file("ca.crt", authority.pem().substr(0, 100));
  clock.advance(5min);
  EXPECT_TRUE(client->get(things, a));
}

// --- 4.2 and 4.5 ----------------------------------------------------------------------------------------------------

TEST_F(http_client_test, retry_after_is_obeyed_for_everything) {
  std::atomic<int> refusals{1};
  start([&](const auto&, auto& connection) {
    if (refusals-- > 0) {
      return connection.respond(429, status_object(429, "TooManyRequests", "slow down"), {{"Retry-After", "1"}});
    }
    connection.respond(201, thing("a").dump());
  });
  const auto started = io::system_clock().now();
  EXPECT_TRUE(client->create(things, thing("a"), "op"));
  EXPECT_GE(io::system_clock().now() - started, 990ms);
  refusals = 1000;
  options.deadline = 500ms;
  connect();
  EXPECT_EQ(code_of(client->get(things, a).error()), errc::too_many_requests);
  server->stop();  // its handler uses what ends here
}

TEST_F(http_client_test, a_webhook_that_fails_is_tried_again_for_what_is_harmless) {
  std::atomic<int> failures{0};
  start([&](const auto&, auto& connection) {
    if (failures-- > 0) return connection.respond(500, status_object(500, "InternalError", "failed calling webhook"));
    connection.respond(200, thing("a").dump());
  });
  failures = 3;
  EXPECT_TRUE(client->apply(things, thing("a"), {.field_manager = "op"}));
  failures = 1;
  const auto made = client->create(things, thing("a"), "op");
  ASSERT_FALSE(made);
  EXPECT_EQ(code_of(made.error()), errc::server_error);
  EXPECT_EQ(made.error().message, "failed calling webhook");
  server->stop();  // its handler uses what ends here
}

TEST_F(http_client_test, apply_is_server_side_and_names_its_manager) {
  start([](const auto&, auto& connection) { connection.respond(200, thing("a").dump()); });
  json object = thing("a");
  object["metadata"]["managedFields"] = json::array({1});
  ASSERT_TRUE(client->apply(things, object, {.field_manager = "the op"}));
  ASSERT_TRUE(client->apply(things, object, {.field_manager = "op", .force = false, .subresource = "status"}));
  const auto seen = server->requests();
  EXPECT_EQ(seen[0].method, "PATCH");
  EXPECT_EQ(seen[0].path(), "/apis/example.io/v1/namespaces/n/things/a");
  EXPECT_EQ(seen[0].headers.at("content-type"), "application/apply-patch+yaml");
  EXPECT_EQ(seen[0].parameter("fieldManager"), "the op");
  EXPECT_EQ(seen[0].parameter("force"), "true");
  EXPECT_FALSE(json::parse(seen[0].body)["metadata"].contains("managedFields"));
  EXPECT_EQ(seen[1].path(), "/apis/example.io/v1/namespaces/n/things/a/status");
  EXPECT_EQ(seen[1].parameter("force"), "");
  EXPECT_EQ(code_of(client->apply(things, object, {}).error()), errc::invalid);
}

TEST_F(http_client_test, deletes_name_propagation_and_preconditions_and_404_is_success) {
  start([](const auto& request, auto& connection) {
    if (request.body.find("another") != std::string::npos) {
      return connection.respond(409, status_object(409, "Conflict", "the UID in the precondition differs"));
    }
    connection.respond(404, status_object(404, "NotFound", "things \"a\" not found"));
  });
  EXPECT_TRUE(client->remove(things, a, {.uid = "u", .resource_version = "7"}));
  const json body = json::parse(server->requests()[0].body);
  EXPECT_EQ(body["propagationPolicy"], "Background");
  EXPECT_EQ(body["preconditions"], (json{{"uid", "u"}, {"resourceVersion", "7"}}));
  EXPECT_EQ(body["kind"], "DeleteOptions");
  EXPECT_EQ(code_of(client->remove(things, a, {.uid = "another"}).error()), errc::conflict);
}

TEST_F(http_client_test, each_refusal_has_its_code_and_the_servers_words) {
  struct row {
    int http;
    const char* reason;
    errc expected;
  };
  const row rows[] = {{400, "BadRequest", errc::invalid},
                      {403, "Forbidden", errc::forbidden},
                      {404, "NotFound", errc::not_found},
                      {409, "AlreadyExists", errc::already_exists},
                      {409, "Conflict", errc::already_exists},  // of a create, whatever it says
                      {410, "Expired", errc::gone},
                      {413, "RequestEntityTooLarge", errc::invalid},
                      {415, "UnsupportedMediaType", errc::invalid},
                      {422, "Invalid", errc::invalid},
                      {503, "ServiceUnavailable", errc::server_error},
                      {302, "Moved", errc::bad_response}};
  std::atomic<const row*> current{rows};
  start([&](const auto&, auto& connection) {
    const row* now = current;
    connection.respond(now->http, status_object(now->http, now->reason, "words of the server"));
  });
  for (const row& one : rows) {
    current = &one;
    const auto made = client->create(things, thing("a"), "op");
    ASSERT_FALSE(made);
    EXPECT_EQ(code_of(made.error()), one.expected) << one.http;
    EXPECT_EQ(made.error().message, "words of the server");
  }
  EXPECT_EQ(server->requests().size(), std::size(rows));  // none of them twice
  server->stop();                                         // its handler uses what ends here
}

TEST_F(http_client_test, a_failed_test_in_a_json_patch_is_a_conflict) {
  start([](const auto&, auto& connection) {
    connection.respond(422, status_object(422, "", "testing value /metadata/resourceVersion failed: test failed"));
  });
  EXPECT_EQ(code_of(client->json_patch(things, a, json::array()).error()), errc::conflict);
  EXPECT_EQ(server->requests()[0].headers.at("content-type"), "application/json-patch+json");
}

TEST_F(http_client_test, numbers_and_unknown_fields_survive_the_round_trip) {
  json object = thing("a");
  object["spec"] = {{"big", 9007199254740993}, {"unheardOf", {{"deep", "1Gi"}}}, {"port", "http"}};
  start([&](const auto& request, auto& connection) { connection.respond(200, request.body); });
  const auto got = client->apply(things, object, {.field_manager = "op"});
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, object);
  EXPECT_TRUE((*got)["spec"]["big"].is_number_integer());
  server->stop();  // its handler uses what ends here
}

TEST_F(http_client_test, names_cannot_lead_elsewhere) {
  start([](const auto&, auto& connection) { connection.respond(200, "{}"); });
  for (const char* name : {"", ".", "..", "a/b", "../secrets", "a%2Fb"}) {
    EXPECT_EQ(code_of(client->get(things, {"n", name}).error()), errc::invalid) << name;
  }
  EXPECT_EQ(code_of(client->get(things, {"", "a"}).error()), errc::invalid);
  EXPECT_EQ(server->requests().size(), 0U);
  ASSERT_TRUE(client->get({"", "v1", "Node", "nodes", false}, {"", "x y?z"}));
  EXPECT_EQ(server->requests()[0].target, "/api/v1/nodes/x%20y%3Fz");
}

TEST_F(http_client_test, lists_carry_selectors_limit_and_version_and_fill_in_the_kind) {
  start([](const auto& request, auto& connection) {
    json item = thing("a");
    item.erase("kind");
    item.erase("apiVersion");
    connection.respond(200, list_of({item}, "42", request.parameter("continue").empty() ? "more" : ""));
  });
  const auto first = client->list(things, {.namespace_name = "n",
                                           .label_selector = "a in (b, c)",
                                           .field_selector = "metadata.name=x",
                                           .resource_version = "41"});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->resource_version, "42");
  EXPECT_EQ(first->items[0]["kind"], "Thing");
  EXPECT_EQ(first->continue_token, "more");
  ASSERT_TRUE(client->list(things, {.continue_token = "more", .resource_version = "41", .metadata_only = true}));
  const auto seen = server->requests();
  EXPECT_EQ(seen[0].parameter("labelSelector"), "a in (b, c)");
  EXPECT_EQ(seen[0].parameter("fieldSelector"), "metadata.name=x");
  EXPECT_EQ(seen[0].parameter("limit"), "500");
  EXPECT_EQ(seen[0].parameter("resourceVersion"), "41");
  EXPECT_EQ(seen[1].parameter("continue"), "more");
  EXPECT_EQ(seen[1].parameter("resourceVersion"), "");  // refused together with a token
  EXPECT_EQ(seen[1].headers.at("accept"), "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
}

TEST_F(http_client_test, many_threads_share_a_client) {
  start([](const auto&, auto& connection) { connection.respond(200, thing("a").dump()); });
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20; ++n) EXPECT_TRUE(client->get(things, a));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_LE(server->connections(), 16);
}

// --- A Lease that is over -------------------------------------------------------------------------------------------

TEST_F(http_client_test, who_may_not_write_sends_no_write) {
  options.may_write = [] { return false; };
  start([](const auto&, auto& connection) { connection.respond(200, thing("a").dump()); });
  EXPECT_EQ(code_of(client->create(things, thing("a"), "op").error()), errc::not_leading);
  EXPECT_EQ(code_of(client->apply(things, thing("a"), {.field_manager = "op"}).error()), errc::not_leading);
  EXPECT_EQ(code_of(client->json_patch(things, a, json::array()).error()), errc::not_leading);
  EXPECT_EQ(code_of(client->remove(things, a, {.uid = "u-a"}).error()), errc::not_leading);
  EXPECT_EQ(server->requests().size(), 0U);
  EXPECT_TRUE(client->get(things, a));
}

TEST_F(http_client_test, a_write_that_failed_is_not_sent_again_by_who_may_not_write_any_more) {
  std::atomic<bool> leads{true};
  options.may_write = [&leads] { return leads.load(); };
  start([&leads](const auto&, auto& connection) {
    leads = false;
    connection.respond(503, status_object(503, "ServiceUnavailable", "later"));
  });
  EXPECT_EQ(code_of(client->apply(things, thing("a"), {.field_manager = "op"}).error()), errc::not_leading);
  EXPECT_EQ(server->requests().size(), 1U);
}

}  // namespace
}  // namespace braidmq::k8s::testing
