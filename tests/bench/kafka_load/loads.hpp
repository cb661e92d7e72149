// What kafka_load does to a cluster. Each blocks for as long as it is told and counts only what was acknowledged; an
// error, a refused record among them, makes the figures void.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "bench/broker/samples.hpp"
#include "io/endpoint.hpp"

namespace braidmq::bench {

struct load_options {
  std::string bootstrap;
  std::string topic;
  std::int32_t partitions = 1;
  std::size_t record_bytes = 1024;
  std::chrono::milliseconds warm_up{0};  // not counted
  std::chrono::milliseconds lasts{0};
};

struct rate {
  std::uint64_t sent = 0;     // acknowledged, all of them, warm-up and end included
  std::uint64_t counted = 0;  // acknowledged within `over`
  io::duration over{};
};

struct latencies {
  std::uint64_t sent = 0;
  samples each;
};

// As many records as go through, over all partitions in turn.
result<rate> as_many_as_possible(const load_options& options);

// The next record when the one before it is acknowledged.
result<latencies> one_by_one(const load_options& options);

// The same with atomic writes of BraidMQ, of one record to each of two topics, to their leader.
result<latencies> atomic_one_by_one(const load_options& options, const std::string& second_topic);

}  // namespace braidmq::bench
