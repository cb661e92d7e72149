// Over real sockets of the loopback.
#include <future>
#include <map>
#include <mutex>
#include <numeric>

#include <gtest/gtest.h>
#include <unistd.h>

#include "net/connection_set.hpp"
#include "net/errc.hpp"
#include "net/tcp_connect.hpp"
#include "net/tcp_listener.hpp"
#include "net_fixture.hpp"
#include "runtime/task.hpp"

namespace braidmq::net {
namespace {

// What they refer to are locals of the tests, which outlive the loops that run them.
// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

using namespace std::chrono_literals;
using stream_result = result<std::unique_ptr<io::stream>>;

class echo_handler final : public frame_handler {
 public:
  void handle(const std::shared_ptr<connection_info>&, bytes frame, unique_function<void()> accepted,
              unique_function<void(result<answer>)> respond) override {
    accepted();
    respond(answer(std::vector<bytes>{frame.slice(0, frame.size() / 2), frame.slice(frame.size() / 2)}));
  }
};

// A broker that echoes: one connection_set per shard.
struct echo_server {
  explicit echo_server(unsigned shard_count) : shards(shard_count) {
    for (std::size_t i = 0; i < shards.size(); ++i) {
      auto& one = shards.at(i);
      sets.push_back(std::make_unique<connection_set>(connection_context{one, one, one.clock()}, "PLAINTEXT",
                                                      connection_limits{}, handler, limiter, nullptr));
    }
    auto opened = tcp_listener::open({"127.0.0.1", 0}, shards, [this](runtime::shard& on, auto stream) {
      {
        const std::scoped_lock lock(mutex);
        ++by_shard[on.index()];
      }
      EXPECT_TRUE(on.on_shard());
      sets[on.index()]->add(std::move(stream));
    });
    EXPECT_TRUE(opened.has_value()) << opened.error().to_string();
    listener = std::move(*opened);
    shards.start();
  }
  ~echo_server() {
    listener.reset();
    shards.stop();
  }

  echo_handler handler;
  std::shared_ptr<connection_limiter> limiter = std::make_shared<connection_limiter>(100, 100);
  runtime::shard_set shards;
  std::vector<std::unique_ptr<connection_set>> sets;
  std::unique_ptr<tcp_listener> listener;
  std::mutex mutex;
  std::map<unsigned, int> by_shard;
};

stream_result connect(runtime::shard& on, const io::endpoint& to) {
  std::promise<stream_result> answer;
  on.post([&] { tcp_connect(on, to, 5s, [&](stream_result stream) { answer.set_value(std::move(stream)); }); });
  return answer.get_future().get();
}

runtime::task<void> echo_once(std::unique_ptr<io::stream> stream, std::string payload, std::promise<std::string>& got) {
  // Byte by byte at first, then the rest: the server sees every kind of cut.
  const auto data = framed(payload);
  std::size_t sent = 0;
  while (sent < data.size()) {
    const auto count = sent < 6 ? 1 : data.size() - sent;
    const auto write = [&stream, part = data.slice(sent, count)](unique_function<void(status)> done) {
      stream->write({part}, std::move(done));
    };
    const status written = co_await runtime::await_callback<status>(write);
    if (!written) break;
    sent += count;
  }
  std::string received;
  std::vector<std::byte> target(100'000);
  const auto read = [&stream, &target](unique_function<void(result<std::size_t>)> done) {
    stream->read_some(target, std::move(done));
  };
  while (received.size() < data.size()) {
    const auto count = co_await runtime::await_callback<result<std::size_t>>(read);
    if (!count) break;
    received += as_string_view(byte_view(target).first(*count));
  }
  got.set_value(received);
}

TEST(tcp, frames_go_through_real_sockets_and_connections_are_dealt_out_in_turn) {
  echo_server server(2);
  runtime::shard client(9);
  client.start();
  for (int i = 0; i < 6; ++i) {
    auto stream = connect(client, {"127.0.0.1", server.listener->port()});
    ASSERT_TRUE(stream.has_value()) << stream.error().to_string();
    const std::string payload(i % 2 == 0 ? 10 : 700'000, static_cast<char>('a' + i));
    std::promise<std::string> got;
    runtime::spawn(client, echo_once(std::move(*stream), payload, got));
    const auto expected = framed(payload);
    EXPECT_TRUE(got.get_future().get() == as_string_view(expected));
  }
  client.stop();
  EXPECT_EQ(server.by_shard, (std::map<unsigned, int>{{0, 3}, {1, 3}}));
  EXPECT_EQ(server.listener->counters().accepted, 6U);
}

TEST(tcp, an_occupied_port_names_its_holder_and_a_free_port) {
  echo_server server(1);
  const auto port = server.listener->port();
  const auto second = tcp_listener::open({"127.0.0.1", port}, server.shards, [](auto&, auto) {});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, errc::address_in_use);
  const auto& words = second.error().message;
  EXPECT_NE(words.find("127.0.0.1:" + std::to_string(port)), std::string::npos) << words;
  EXPECT_NE(words.find("process " + std::to_string(getpid()) + " ("), std::string::npos) << words;
  EXPECT_NE(words.find(" is free"), std::string::npos) << words;
}

TEST(tcp, a_port_is_free_again_after_the_listener_stopped) {
  std::uint16_t port = 0;
  {
    echo_server server(1);
    port = server.listener->port();
    runtime::shard client(9);
    client.start();
    EXPECT_TRUE(connect(client, {"127.0.0.1", port}).has_value());
  }
  runtime::shard_set shards(1);
  const auto again = tcp_listener::open({"127.0.0.1", port}, shards, [](auto&, auto) {});
  EXPECT_TRUE(again.has_value()) << again.error().to_string();
}

TEST(tcp, a_bound_port_refuses_until_it_listens) {
  runtime::shard_set shards(1);
  std::promise<void> connected;
  auto bound =
      tcp_listener::bind({"127.0.0.1", 0}, shards, [&](runtime::shard&, auto) { connected.set_value(); }).value();
  shards.start();
  runtime::shard client(9);
  client.start();
  EXPECT_EQ(connect(client, {"127.0.0.1", bound->port()}).error().code, errc::not_reachable);
  for (int twice = 0; twice < 2; ++twice) {
    std::promise<bool> listens;
    bound->listen([&](const status& said) { listens.set_value(said.has_value()); });
    EXPECT_TRUE(listens.get_future().get());
  }
  EXPECT_TRUE(connect(client, {"127.0.0.1", bound->port()}).has_value());
  EXPECT_EQ(connected.get_future().wait_for(5s), std::future_status::ready);
  client.stop();
  bound.reset();
  shards.stop();
}

TEST(tcp, a_bad_address_is_an_error_with_words) {
  runtime::shard_set shards(1);
  const auto opened = tcp_listener::open({"203.0.113.77", 0}, shards, [](auto&, auto) {});
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message.find("203.0.113.77"), std::string::npos);
}

TEST(tcp, connect_reports_a_refused_connection) {
  runtime::shard client(0);
  client.start();
  std::uint16_t unused = 0;
  {
    runtime::shard_set shards(1);
    unused = tcp_listener::open({"127.0.0.1", 0}, shards, [](auto&, auto) {}).value()->port();
  }
  const auto outcome = connect(client, {"127.0.0.1", unused});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, errc::not_reachable);
}

TEST(tcp, close_ends_a_read_under_way_and_destroying_drops_its_callback) {
  echo_server server(1);
  runtime::shard client(9);
  client.start();
  auto stream = connect(client, {"127.0.0.1", server.listener->port()});
  ASSERT_TRUE(stream.has_value());
  std::vector<std::byte> target(10);
  std::promise<result<std::size_t>> ended;
  client.post([&] {
    (*stream)->read_some(target, [&](result<std::size_t> count) { ended.set_value(std::move(count)); });
    client.post([&] { (*stream)->close(); });
  });
  const auto outcome = ended.get_future().get();
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, io::errc::closed);

  auto other = connect(client, {"127.0.0.1", server.listener->port()});
  ASSERT_TRUE(other.has_value());
  bool called = false;
  std::promise<void> settled;
  client.post([&] {
    (*other)->read_some(target, [&](const result<std::size_t>&) { called = true; });
    other->reset();
    client.schedule(20ms, [&] { settled.set_value(); });
  });
  settled.get_future().get();
  EXPECT_FALSE(called);
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace braidmq::net
