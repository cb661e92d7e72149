// What stands between the sockets (net) and the protocol (server): requests go up, answers come back. A frame is what
// follows the 4-byte length of the Kafka protocol; connections read and write the length themselves.
// Source: Kafka protocol guide, "Network" and "Protocol Primitives".
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/unique_function.hpp"

namespace braidmq::net {

// What is known of one connection. Lives as long as it; the handler may write the fields that are said to be its own.
struct connection_info {
  std::uint64_t id = 0;  // unique in this process
  std::string remote;    // "10.0.0.7:51234"
  std::string listener;  // name of the listener: "PLAINTEXT"

  // The handler's own: set by ApiVersions (KIP-511) and by the requests' headers.
  std::string client_id;
  std::string software_name;
  std::string software_version;
  // The handler's own: principal, quota and trace state of the connection.
  std::shared_ptr<void> session;

  // The handler's own: Fetch requests that have no answer yet.
  std::size_t unanswered_fetches = 0;

  // Kept by the connection. Set when it has ended: what waits for its sake may be given up. Any thread.
  std::atomic<bool> ended{false};
  // Kept by the connection. Answers not yet taken by the peer: a handler makes the next fetch answer smaller by it.
  std::size_t unsent_bytes = 0;
  std::size_t inflight_frames = 0;  // handed over and not yet answered, and answers not yet sent
};

// More than the longest header without tagged fields.
inline constexpr std::size_t large_frame_start_bytes = 64 * 1024;

// An answer in parts that are sent one after the other, so that record batches need no copy; nothing: no answer is
// sent (acks=0).
using answer = std::optional<std::vector<bytes>>;

class frame_handler {
 public:
  virtual ~frame_handler() = default;

  // The first bytes of a frame of `frame_bytes` that is still being read, at least large_frame_start_bytes of them; not
  // called for smaller frames. An error closes the connection, as one of `respond` does: what can be refused by its
  // header should not take the memory of the rest.
  virtual status look(const connection_info& /*connection*/, byte_view /*start*/, std::size_t /*frame_bytes*/) {
    return {};
  }

  // One request. Called on the connection's executor, in the order of arrival, the next one only after `accepted` was
  // called for the one before: so what a handler does before that call happens in the connection's order, whatever it
  // waits for in between (producers pipeline, and their sequence numbers must reach the log in order).
  // - `accepted` at most once. Destroyed without a call it counts as called.
  // - `respond` once, in any order with other requests': answers leave in the order of the requests. An error closes
  // the
  //   connection, with the error as the logged reason; so does destroying `respond` without a call.
  // Both are called on the connection's executor, may be called inside handle(), and may outlive the connection: then
  // they do nothing. Whoever keeps `connection` keeps it alive, and sees what was true when the connection ended.
  virtual void handle(const std::shared_ptr<connection_info>& connection, bytes frame, unique_function<void()> accepted,
                      unique_function<void(result<answer>)> respond) = 0;
};

}  // namespace braidmq::net
