// One leader by a Lease (coordination.k8s.io/v1), as a state machine on a clock: the threads are leader_elector's.
//
// Another's Lease counts as expired when our own monotonic clock says that it has not changed for its duration; the
// times inside are for people. Writes carry the resource version that was seen, so of two that try one fails. A Lease
// is no fence: a leader that is paused between the look at its clock and the request (http_client_options::may_write)
// may still send it, which is why everything that matters goes with preconditions.
//
// The client must answer well within the renew deadline: give the election one of its own, with a deadline of a few
// seconds. Threads: one owner; is_leader() and lead_until() from any.
// Source: client-go's leaderelection; KEP 589.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "io/clock.hpp"
#include "io/random.hpp"
#include "k8s/client.hpp"

namespace braidmq::k8s {

struct election_options {
  object_key lease;
  std::string identity;  // of this process, never used again by another
  std::chrono::seconds lease_duration{15};
  io::duration renew_deadline = std::chrono::seconds(10);
  io::duration retry_period = std::chrono::seconds(2);
};

// Checks that one who stops renewing has stopped leading before another begins. errc::config in words.
status validate(const election_options& options);

class election {
 public:
  election(client& api, election_options options, const io::clock& clock = io::system_clock(),
           io::random_source& random = io::system_random());

  // One try to get or to keep the Lease. Returns how long to wait until the next.
  io::duration step();

  // By the local clock alone: false from the moment when the renew deadline is over, whatever step() is waiting for.
  bool is_leader() const;
  std::optional<io::time_point> lead_until() const;

  // When leader: the Lease is free for the next one at once. No step() after it.
  void release();

  std::string holder() const;  // as seen last
  std::string last_error() const;

 private:
  struct record {
    std::string holder;
    std::string resource_version;
    std::chrono::seconds duration{};
    std::int64_t transitions = 0;
    std::string acquired;
  };

  bool try_get_or_renew();
  void observe(const record& seen);
  bool is_free() const;
  result<json> write(const record& over, const std::string& holder, std::chrono::seconds duration);
  static result<record> read(const json& lease);
  void lose();

  client& api_;
  const election_options options_;
  const io::clock& clock_;
  io::random_source& random_;
  std::optional<record> seen_;
  io::time_point seen_at_;
  mutable std::mutex mutex_;
  std::optional<io::time_point> until_;
  std::string holder_;
  std::string last_error_;
};

}  // namespace braidmq::k8s
