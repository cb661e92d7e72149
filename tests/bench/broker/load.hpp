// Producers in a closed loop: some connections, each with so many requests under way, on one thread.
//
// Owner: one thread; run() blocks. Errors: std::errc; a refused write and half a minute without an answer are errors
// too.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.hpp"
#include "bench/broker/frame_stream.hpp"
#include "io/clock.hpp"

namespace braidmq::bench {

struct ack {
  std::uint64_t request = 0;  // counted from 0 over all connections and runs
  io::time_point sent;
  io::time_point acked;
};

enum class go {
  on,
  drain,    // send nothing more and wait for what is under way
  abandon,  // return at once; the load is of no use any more
};

class load {
 public:
  // The frame of a request, by its number; good until the next call.
  using frame_source = std::function<byte_view(std::uint64_t request)>;

  static result<std::unique_ptr<load>> open(const io::endpoint& to, std::size_t connections, std::size_t in_flight);

  // Until on_ack, which sees each answer after it was checked, says otherwise. May be called again after a drain.
  status run(const frame_source& next, const std::function<go(const ack&)>& on_ack);

 private:
  struct waiting {
    std::int32_t correlation_id = 0;
    std::uint64_t request = 0;
    io::time_point sent;
  };
  struct connection {
    frame_stream stream;
    std::deque<waiting> under_way;
  };

  explicit load(std::size_t in_flight) : in_flight_(in_flight) {}

  status send_next(connection& on, const frame_source& next);
  status receive(connection& on, const frame_source& next, const std::function<go(const ack&)>& on_ack, go& how);

  std::vector<connection> connections_;
  std::size_t in_flight_;
  std::uint64_t requests_ = 0;
  std::int32_t last_correlation_id_ = 0;
};

}  // namespace braidmq::bench
