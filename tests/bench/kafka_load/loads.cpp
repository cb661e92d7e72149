#include "bench/kafka_load/loads.hpp"

#include <memory>

#include "bench/broker/load.hpp"
#include "bench/broker/produce_frame.hpp"
#include "bench/kafka_load/producer.hpp"

namespace braidmq::bench {
namespace {

constexpr std::chrono::seconds patience(30);
constexpr int linger_of_many_ms = 5;

io::time_point now() {
  return io::system_clock().now();
}

// Of no pattern that a disk or a network could make smaller.
std::string value_of(std::size_t size) {
  std::string made(size, '\0');
  std::uint32_t state = 1;
  for (char& one : made) {
    state = state * 1664525 + 1013904223;
    one = static_cast<char>(state >> 24U);
  }
  return made;
}

}  // namespace

result<rate> as_many_as_possible(const load_options& options) {
  rate made;
  made.over = options.lasts;
  std::uint64_t acked = 0;
  const io::time_point from = now() + options.warm_up;
  const io::time_point until = from + options.lasts;
  BRAID_TRY(client, producer::make({options.bootstrap, options.topic, linger_of_many_ms}, [&] {
              ++acked;
              const io::time_point at = now();
              if (at >= from && at < until) ++made.counted;
            }));
  const std::string value = value_of(options.record_bytes);
  constexpr std::uint64_t between_polls = 64;
  while (now() < until) {
    for (std::uint64_t i = 0; i < between_polls; ++i) {
      const auto partition = static_cast<std::int32_t>(made.sent % static_cast<std::uint64_t>(options.partitions));
      BRAID_TRY(taken, client->send(partition, value));
      if (!taken) {
        BRAID_TRY_VOID(client->wait(std::chrono::milliseconds(10)));
        break;
      }
      ++made.sent;
    }
    BRAID_TRY_VOID(client->wait(std::chrono::milliseconds(0)));
  }
  BRAID_TRY_VOID(client->drain(patience));
  if (acked != made.sent) return fail(std::make_error_code(std::errc::bad_message), "not all were acknowledged");
  return made;
}

result<latencies> one_by_one(const load_options& options) {
  latencies made;
  bool acked = false;
  BRAID_TRY(client, producer::make({options.bootstrap, options.topic}, [&] { acked = true; }));
  const std::string value = value_of(options.record_bytes);
  const io::time_point from = now() + options.warm_up;
  const io::time_point until = from + options.lasts;
  while (now() < until) {
    const io::time_point sent_at = now();
    acked = false;
    BRAID_TRY(taken, client->send(0, value));
    if (!taken) return fail(std::make_error_code(std::errc::no_buffer_space), "one record");
    while (!acked) {
      BRAID_TRY_VOID(client->wait(patience));
      if (now() - sent_at > patience) return fail(std::make_error_code(std::errc::timed_out), options.bootstrap);
    }
    ++made.sent;
    if (sent_at >= from) made.each.add(now() - sent_at);
  }
  return made;
}

result<latencies> atomic_one_by_one(const load_options& options, const std::string& second_topic) {
  BRAID_TRY(leader, io::parse_endpoint(options.bootstrap));
  BRAID_TRY(
      frame,
      produce_frame({{options.topic, 0, 1, options.record_bytes}, {second_topic, 0, 1, options.record_bytes}}, true));
  BRAID_TRY(client, load::open(leader, 1, 1));
  latencies made;
  const io::time_point from = now() + options.warm_up;
  const io::time_point until = from + options.lasts;
  BRAID_TRY_VOID(client->run([&](std::uint64_t) { return frame.view(); },
                             [&](const ack& one) {
                               ++made.sent;
                               if (one.sent >= from) made.each.add(one.acked - one.sent);
                               return one.acked < until ? go::on : go::drain;
                             }));
  return made;
}

}  // namespace braidmq::bench
