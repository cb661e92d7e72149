// A whole broker in memory and its dispatcher, driven by hand: requests as typed messages in every version, answers the
// same way, through the real bytes.
#pragma once

#include <memory>
#include <optional>

#include <asio/io_context.hpp>
#include <gtest/gtest.h>

#include "protocol/api_table.hpp"
#include "protocol/generated/headers.hpp"
#include "protocol/wire_reader.hpp"
#include "server/dispatcher.hpp"
#include "support/manual_executor.hpp"
#include "support/manual_timers.hpp"
#include "support/sim_file_system.hpp"

namespace braidmq::server {

class seeded_random final : public io::random_source {
 public:
  void fill(mutable_byte_view target) override {
    for (std::byte& byte : target) byte = static_cast<std::byte>(rng_.below(256));
  }

 private:
  sim::rng rng_{3};
};

class ServerTest : public ::testing::Test {
 protected:
  ServerTest() {
    options_.data_dir = "/data";
    options_.wal_dir = "/data/wal";
    options_.wal_preallocate = false;  // of the default size, in memory
    options_.advertised = {{"PLAINTEXT", "broker.example", 9092}};
    connection_->listener = "PLAINTEXT";
    connection_->remote = "10.0.0.1:1234";
  }
  ~ServerTest() override {
    dispatcher_.reset();
    broker_.reset();
  }

  void start() {
    open();
    run();
    ASSERT_TRUE(broker_->readiness().empty()) << broker_->readiness().front();
  }

  // Started, and nothing has been applied yet.
  void open() {
    broker_environment environment{fs_,           clock_, random_, control_, control_timers_, disk_, shard_,
                                   shard_timers_, disk_,  disk_,   disk_};
    environment.requests = requests_;
    environment.answers = answers_;
    auto opened = broker::open(options_, environment, [this](const error& why) { fatal_ = why.to_string(); });
    ASSERT_TRUE(opened) << opened.error().to_string();
    broker_ = std::move(*opened);
    dispatcher_ =
        std::make_unique<dispatcher>(*broker_, shard_environment{context_.get_executor(), shard_, shard_timers_});
    broker_->start();
  }

  // The process dies; what it wrote stays.
  void kill() {
    dispatcher_.reset();
    broker_.reset();
    fs_.kill_process();
  }

  // Everything that can happen without time passing.
  void run() {
    context_.restart();  // a context that ran dry stays stopped
    while (loop_.run_one() || context_.poll_one() > 0) context_.restart();
  }
  void pass_time(io::duration by) {
    control_timers_.advance(io::duration::zero());
    shard_timers_.advance(by);
    control_timers_.advance(io::duration::zero());
    run();
  }

  struct raw_answer {
    bool accepted = false;
    std::optional<result<net::answer>> said;
  };
  std::shared_ptr<raw_answer> send(bytes frame) {
    const auto heard = std::make_shared<raw_answer>();
    dispatcher_->handle(
        connection_, std::move(frame), [heard] { heard->accepted = true; },
        [heard](result<net::answer> said) { heard->said = std::move(said); });
    run();
    return heard;
  }

  template <class Request>
  bytes frame_of(const Request& request, std::int16_t version) {
    const protocol::api_description* api = protocol::find_api(Request::api_key);
    protocol::request_header header;
    header.request_api_key = Request::api_key;
    header.request_api_version = version;
    header.correlation_id = ++correlation_;
    header.client_id = "test";
    byte_buffer frame;
    EXPECT_TRUE(header.encode(frame, api->request_header_version(version)));
    const status written = request.encode(frame, version);
    EXPECT_TRUE(written) << "version " << version << ": " << written.error().to_string();
    return frame.freeze();
  }

  // The response, decoded; fails the test when there is none.
  template <class Response, class Request>
  std::optional<Response> ask(const Request& request, std::int16_t version) {
    const auto heard = send(frame_of(request, version));
    if (!heard->said || !heard->said->has_value() || !(*heard->said)->has_value()) {
      ADD_FAILURE() << Request::name << " version " << version << ": "
                    << (heard->said && !heard->said->has_value() ? heard->said->error().to_string() : "no answer");
      return std::nullopt;
    }
    EXPECT_TRUE(heard->accepted) << "a connection whose request is answered must go on";
    return read<Response>(**heard->said, version);
  }

  template <class Response>
  std::optional<Response> read(const net::answer& answer, std::int16_t version) {
    byte_buffer whole;
    for (const bytes& part : *answer) whole.append(part);
    const bytes frame = whole.freeze();
    const std::int16_t header_version = protocol::find_api(Response::api_key)->response_header_version(version);
    protocol::wire_reader reader(frame, header_version >= 1);
    protocol::response_header header;
    protocol::read(reader, header, header_version);
    EXPECT_EQ(header.correlation_id, correlation_);
    auto response = Response::decode(reader.rest(), version);
    if (!response) {
      ADD_FAILURE() << Response::name << " version " << version << ": " << response.error().to_string();
      return std::nullopt;
    }
    return *response;
  }

  std::shared_ptr<const metadata::topic_image> make_topic(const std::string& name, std::int32_t partitions,
                                                          std::map<std::string, std::string> configs = {}) {
    std::shared_ptr<const metadata::topic_image> made;
    broker_->controller().create_topic({name, partitions, -1, std::move(configs)}, std::chrono::seconds(5),
                                       [&](auto said) { made = said ? *said : nullptr; });
    run();
    EXPECT_TRUE(made);
    return made;
  }

  sim::manual_loop loop_{11};
  sim::manual_clock clock_;
  sim::sim_file_system fs_{5};
  seeded_random random_;
  asio::io_context context_{1};
  sim::manual_executor control_{loop_};
  sim::manual_executor shard_{loop_};
  sim::manual_executor disk_{loop_};
  sim::manual_timers control_timers_{clock_, control_};
  sim::manual_timers shard_timers_{clock_, shard_};
  broker_options options_;
  std::shared_ptr<memory_budget> requests_ = memory_budget::create(std::size_t{64} << 20U);
  std::shared_ptr<memory_budget> answers_ = memory_budget::create(std::size_t{64} << 20U);
  std::string fatal_;
  std::unique_ptr<broker> broker_;
  std::unique_ptr<dispatcher> dispatcher_;
  std::shared_ptr<net::connection_info> connection_ = std::make_shared<net::connection_info>();
  std::int32_t correlation_ = 0;
};

}  // namespace braidmq::server
