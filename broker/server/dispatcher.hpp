// From frame to handler and back, one for each shard: reads the request header, finds API and version, starts the
// handler's coroutine, puts the response header in front of its answer.
//
// What cannot be read or is not served closes the connection, as in Kafka; only ApiVersions with an unknown version
// gets an answer, in version 0, so that a newer client learns what to speak (KIP-511).
#pragma once

#include <array>
#include <cstdint>

#include "base/histogram.hpp"
#include "net/frame_handler.hpp"
#include "server/api_list.hpp"
#include "server/fetch_sessions.hpp"

namespace braidmq::server {

// Of one shard; copied at scrape.
struct api_counters {
  std::uint64_t requests = 0;
  std::uint64_t failures = 0;  // connections closed by a request of this API
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  histogram latency_us;  // from frame to answer
};

class dispatcher final : public net::frame_handler {
 public:
  dispatcher(broker& target, shard_environment environment);

  status look(const net::connection_info& connection, byte_view start, std::size_t frame_bytes) override;
  void handle(const std::shared_ptr<net::connection_info>& connection, bytes frame, unique_function<void()> accepted,
              unique_function<void(result<net::answer>)> respond) override;

  // By index in api_list(); on the shard.
  const std::vector<api_counters>& counters() const { return counters_; }
  std::uint64_t refused_frames() const { return refused_frames_; }
  fetch_session_stats session_statistics() const { return sessions_.statistics(); }

 private:
  using responder = unique_function<void(result<net::answer>)>;

  runtime::task<void> run(request_ptr context, const served_api* api, bytes body, responder respond);

  broker& broker_;
  shard_environment environment_;
  fetch_sessions sessions_;
  std::vector<api_counters> counters_;
  std::uint64_t refused_frames_ = 0;  // unknown API, version or header
};

}  // namespace braidmq::server
