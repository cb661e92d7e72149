// A producer of librdkafka for one topic: acks=all, no compression, no idempotence, each record to a named partition.
//
// Owner: one thread; acknowledgements come in wait(). Errors: std::errc::io_error with librdkafka's words.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/clock.hpp"

struct rd_kafka_s;
struct rd_kafka_topic_s;
struct rd_kafka_message_s;

namespace braidmq::bench {

struct producer_options {
  std::string bootstrap;
  std::string topic;
  int linger_ms = 0;
};

class producer {
 public:
  // Of each record; one that was refused ends wait() instead.
  using ack_function = std::function<void()>;

  static result<std::unique_ptr<producer>> make(const producer_options& options, ack_function on_ack);
  // Drops what is under way.
  ~producer();
  producer(const producer&) = delete;
  producer& operator=(const producer&) = delete;

  // The value is copied. False when so many are under way that wait() has to come first.
  result<bool> send(std::int32_t partition, std::string_view value);
  // At most so long for the next acknowledgements.
  status wait(std::chrono::milliseconds most);
  // Until nothing is under way.
  status drain(std::chrono::milliseconds most);

 private:
  explicit producer(ack_function on_ack) : on_ack_(std::move(on_ack)) {}

  static void on_delivery(rd_kafka_s* /*from*/, const rd_kafka_message_s* message, void* self);

  ack_function on_ack_;
  std::string refusal_;  // the first one
  rd_kafka_s* client_ = nullptr;
  rd_kafka_topic_s* topic_ = nullptr;
};

}  // namespace braidmq::bench
