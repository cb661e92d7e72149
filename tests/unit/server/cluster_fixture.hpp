// A cluster of three brokers in memory: folders, connections, both quorums and dispatchers, on one loop.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include <asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "protocol/api_table.hpp"
#include "protocol/generated/headers.hpp"
#include "protocol/wire_reader.hpp"
#include "server/dispatcher.hpp"
#include "sim/world/random_bytes.hpp"
#include "support/batches.hpp"
#include "support/manual_loop.hpp"
#include "support/pipe_stream.hpp"
#include "support/sim_file_system.hpp"

namespace braidmq::server {

class ClusterTest : public ::testing::Test {
 protected:
  static constexpr std::int32_t brokers = 3;

  struct machine {
    std::unique_ptr<sim::sim_file_system> disk = std::make_unique<sim::sim_file_system>();
    std::unique_ptr<membership> cluster;
    std::unique_ptr<server::broker> broker;
    std::unique_ptr<server::dispatcher> dispatcher;
    std::shared_ptr<net::connection_info> connection = std::make_shared<net::connection_info>();
  };

  ~ClusterTest() override {
    for (auto& [id, one] : machines_) end(id);
  }

  void start_all() {
    for (std::int32_t id = 0; id < brokers; ++id) ASSERT_TRUE(start(id).has_value()) << id;
    const bool all_lead = wait_for([this] { return leader() >= 0 && controller() >= 0; });
    ASSERT_TRUE(all_lead);
  }
  status start(std::int32_t id) {
    machine& on = machines_[id];
    membership_options options;
    options.id = model::broker_id(id);
    options.data_dir = "/data";
    options.wal_dir = "/wal";
    options.secrets = {std::string(32, 's')};
    options.newest_apply_level = levels_.at(id);
    for (std::int32_t i = 0; i < brokers; ++i) {
      options.voters.push_back({model::broker_id(i), {fmt::format("b{}", i), 9095}, {fmt::format("b{}", i), 9094}});
    }
    const auto connect = [this](const io::endpoint& to, io::duration, auto done) {
      loop_.post([this, to, done = std::move(done)]() mutable { connect_to(to, std::move(done)); });
    };
    const auto fail_test = [](const error& why) { ADD_FAILURE() << why.to_string(); };
    BRAID_TRY(cluster, membership::open(std::move(options),
                                        {*on.disk, random_, loop_, loop_, loop_, connect, loop_, loop_, connect, loop_},
                                        fail_test));
    on.cluster = std::move(cluster);
    on.connection->listener = "PLAINTEXT";
    on.connection->remote = "10.0.0.1:1234";
    on.cluster->start([this, id] { born(id); });
    run();
    return {};
  }
  // The process dies; its folders stay.
  void end(std::int32_t id) {
    machine& on = machines_[id];
    on.dispatcher.reset();
    if (on.broker) on.broker->stop([] {});
    if (on.cluster) {
      on.cluster->stop_metadata();
      on.cluster->stop_braid();
    }
    run();
    on.broker.reset();
    on.cluster.reset();
    run();
  }

  void run() {
    do {
      context_.restart();
      while (loop_.run_one() || context_.poll_one() > 0) context_.restart();
    } while (context_.poll_one() > 0);
  }
  void pass(io::duration by) {
    constexpr io::duration step = std::chrono::milliseconds(10);
    for (io::duration gone{}; gone < by; gone += step) {
      loop_.advance(step);
      run();
    }
  }
  // Time passes until it is so, a minute at most.
  template <class Condition>
  bool wait_for(Condition is_so) {
    for (int i = 0; i < 6'000 && !is_so(); ++i) pass(std::chrono::milliseconds(10));
    return is_so();
  }
  // Who serves the braid, or leads the metadata quorum; -1: nobody.
  std::int32_t leader() {
    for (const auto& [id, one] : machines_) {
      if (one.broker && one.broker->braid().office().serves) return id;
    }
    return -1;
  }
  std::int32_t controller() {
    for (const auto& [id, one] : machines_) {
      if (one.broker && one.broker->controller().office().serves) return id;
    }
    return -1;
  }
  // A broker that runs and does not lead the braid.
  std::int32_t follower() {
    for (const auto& [id, one] : machines_) {
      if (one.broker && id != leader()) return id;
    }
    return -1;
  }
  server::broker& of(std::int32_t id) { return *machines_.at(id).broker; }

  using answer_to_come = std::shared_ptr<std::optional<result<net::answer>>>;
  template <class Request>
  answer_to_come send(std::int32_t id, const Request& request, std::int16_t version) {
    const protocol::api_description* api = protocol::find_api(Request::api_key);
    protocol::request_header header;
    header.request_api_key = Request::api_key;
    header.request_api_version = version;
    header.correlation_id = 1;
    byte_buffer frame;
    EXPECT_TRUE(header.encode(frame, api->request_header_version(version)));
    EXPECT_TRUE(request.encode(frame, version));
    auto said = std::make_shared<std::optional<result<net::answer>>>();
    const machine& on = machines_.at(id);
    on.dispatcher->handle(
        on.connection, frame.freeze(), [] {}, [said](result<net::answer> answer) { *said = std::move(answer); });
    return said;
  }

  template <class Response, class Request>
  std::optional<Response> ask(std::int32_t id, const Request& request, std::int16_t version) {
    return take<Response>(send(id, request, version), version);
  }
  template <class Response>
  std::optional<Response> take(const answer_to_come& said, std::int16_t version) {
    const protocol::api_description* api = protocol::find_api(Response::api_key);
    wait_for([&] { return said->has_value(); });
    if (!*said || !(*said)->has_value() || !(**said)->has_value()) {
      ADD_FAILURE() << Response::name << ": " << (*said && !**said ? (*said)->error().to_string() : "no answer");
      return std::nullopt;
    }
    byte_buffer whole;
    for (const bytes& part : **(*said).value()) whole.append(part);
    const std::int16_t header_version = api->response_header_version(version);
    const bytes answered = whole.freeze();
    protocol::wire_reader reader(answered, header_version >= 1);
    protocol::response_header answered_header;
    protocol::read(reader, answered_header, header_version);
    auto response = Response::decode(reader.rest(), version);
    EXPECT_TRUE(response) << response.error().to_string();
    return response ? std::optional<Response>(std::move(*response)) : std::nullopt;
  }

  testing::manual_loop loop_;
  sim::random_bytes random_{7};
  asio::io_context context_{1};
  std::map<std::int32_t, machine> machines_;
  bool rack_aware_reads_ = false;
  // One that does not exist yet, so that it can be seen to rise.
  static constexpr std::int16_t next_level = braid::newest_apply_level + 1;
  std::map<std::int32_t, std::int16_t> levels_{{0, next_level}, {1, next_level}, {2, next_level}};
  std::map<std::int32_t, std::string> racks_{{0, "east"}, {1, "west"}, {2, "west"}};

 private:
  void born(std::int32_t id) {
    machine& on = machines_[id];
    broker_options options;
    options.id = model::broker_id(id);
    options.data_dir = "/data";
    options.wal_dir = "/wal";
    options.wal_preallocate = false;
    options.wal_file_bytes = 1U << 20U;
    options.advertised = {{"PLAINTEXT", fmt::format("b{}.example", id), 9092}};
    options.rack = racks_.at(id);
    options.rack_aware_reads = rack_aware_reads_;
    options.newest_apply_level = levels_.at(id);
    broker_environment environment{*on.disk, loop_, random_, loop_, loop_, loop_, loop_, loop_, loop_, loop_, loop_};
    auto opened =
        broker::open(options, environment, *on.cluster, [](const error& why) { ADD_FAILURE() << why.to_string(); });
    ASSERT_TRUE(opened) << opened.error().to_string();
    on.broker = std::move(*opened);
    on.dispatcher = std::make_unique<dispatcher>(*on.broker, shard_environment{context_.get_executor(), loop_, loop_});
    on.broker->start();
  }
  void connect_to(const io::endpoint& to, unique_function<void(result<std::unique_ptr<io::stream>>)> done) {
    const auto found = machines_.find(std::stoi(to.host.substr(1)));
    if (found == machines_.end() || !found->second.cluster) return done(fail(io::errc::closed, "nobody listens"));
    auto ends = testing::make_pipe(loop_);
    if (to.port == 9095)
      found->second.cluster->take_metadata(std::move(ends.second));
    else
      found->second.cluster->take_braid(std::move(ends.second));
    done(std::unique_ptr<io::stream>(std::move(ends.first)));
  }
};

}  // namespace braidmq::server
