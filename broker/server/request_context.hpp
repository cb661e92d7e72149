// What a handler knows of the request that it serves.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <asio/any_io_executor.hpp>

#include "base/unique_function.hpp"
#include "net/frame_handler.hpp"
#include "runtime/task.hpp"
#include "server/broker.hpp"

namespace braidmq::server {

// The shard on which connections and their handlers run.
struct shard_environment {
  asio::any_io_executor coroutines;
  io::executor& executor;
  io::timer_service& timers;
  std::size_t index = 0;  // of `count`
  std::size_t count = 1;
};

struct request_context {
  server::broker& broker;
  shard_environment& shard;
  fetch_sessions& sessions;  // of the shard
  std::shared_ptr<net::connection_info> connection;
  std::int16_t api_key = 0;
  std::int16_t version = 0;
  std::int16_t response_header_version = 0;
  std::int32_t correlation_id = 0;
  std::string client_id;
  // To be called, on the shard, when this request has its place and the connection's next one may be handed over. What
  // nobody calls counts as called when the request has been answered.
  unique_function<void()> accepted;

  // Of the request in its decoded form.
  memory_lease memory = {};

  // The request waits for its place elsewhere: whoever has it calls accept(), also after the request was answered.
  bool handed_over = false;

  void accept() {
    if (auto call = std::exchange(accepted, nullptr)) call();
  }
};

// Handlers are coroutines and take it by value.
using request_ptr = std::shared_ptr<request_context>;

// A request's timeout_ms as the wait that it gets: clients may send any number, and no wait is without an end.
inline std::chrono::milliseconds bounded_timeout(std::int32_t timeout_ms) {
  constexpr std::int32_t longest_ms = 5 * 60 * 1000;
  return std::chrono::milliseconds(std::clamp(timeout_ms, 1, longest_ms));
}

// One wait for all parts of a request, however many there are.
class request_deadline {
 public:
  request_deadline(const request_context& of, io::duration wait)
      : clock_(of.broker.environment().clock), at_(clock_.now() + wait) {}
  io::duration left() const { return std::max<io::duration>(at_ - clock_.now(), std::chrono::milliseconds(1)); }

 private:
  const io::clock& clock_;
  io::time_point at_;
};

// As in Kafka: what one request may make of partitions.
inline constexpr std::int64_t max_partitions_per_request = 10'000;
inline std::string too_many_partitions() {
  return "the request asks for more than 10000 partitions: ask for them in several";
}

// Lets others have the shard: goes on behind what is queued there.
inline runtime::task<void> give_way(request_ptr context) {
  auto initiate = [&context](unique_function<void(bool)> done) {
    context->shard.executor.post([done = std::move(done)]() mutable { done(true); });
  };
  co_await runtime::await_callback<bool>(initiate);
}

// Whether the connections of this shard and the braid are one thread's.
inline bool is_of_braid(const request_context& context) {
  return &context.shard.executor == &context.broker.environment().braid;
}

// Runs `call(braid::replica&, unique_function<void(T)> done)` on the braid's shard and resumes the handler with what
// `done` gets. One hop there, if that is another shard, and one back.
template <class T, class Call>
runtime::task<T> on_braid(request_ptr context, Call call) {
  auto initiate = [context = std::move(context), call = std::move(call)](unique_function<void(T)> done) mutable {
    broker& target = context->broker;
    if (is_of_braid(*context)) return call(target.braid(), std::move(done));
    target.environment().braid.post(
        [&target, call = std::move(call), done = std::move(done)]() mutable { call(target.braid(), std::move(done)); });
  };
  return runtime::await_callback<T>(std::move(initiate));
}

}  // namespace braidmq::server
