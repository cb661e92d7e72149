// The incremental fetch sessions of one shard (KIP-227), bounded by count and by bytes.
//
// Where a session lives: on the shard of the connection that made it, without a lock; its id modulo the number of
// shards names the shard. Another connection may go on with it when it happens to be on the same shard. On any other
// the id is not known, error 70, and the client begins anew with a full fetch, as clients do after every lost
// connection and every restart of a broker; the old session goes when it has not been used for two minutes.
//
// When there is no room, a new session takes the place of one that was not used for two minutes, or of one that is
// older than two minutes and has fewer partitions; else the client gets session id 0 and sends whole requests.
// Followers, who go before consumers in Kafka, do not fetch here.
//
// Threads: the shard's. Source: KIP-227; Kafka's FetchManager.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "io/clock.hpp"
#include "io/random.hpp"
#include "protocol/generated/fetch.hpp"
#include "server/fetch_session.hpp"

namespace braidmq::server {

struct fetch_session_limits {
  std::size_t max_sessions = 1000;
  std::size_t max_bytes = std::size_t{64} << 20U;
};

// The part of one shard: the sum over all is the whole, a remainder left out as in Kafka, but one session at least.
fetch_session_limits share_of_one(const fetch_session_limits& all, std::size_t shards);

struct fetch_session_stats {
  std::size_t sessions = 0;
  std::size_t partitions = 0;
  std::size_t bytes = 0;
  std::uint64_t evicted = 0;  // for want of room
  std::uint64_t refused = 0;  // new ones that got no room
};

// How one request is to be answered.
struct opened_fetch {
  protocol::error_code error = protocol::error_code::none;  // of the whole request
  std::shared_ptr<fetch_session> session;                   // incremental: read its partitions, in its order
  std::int32_t epoch = 0;                                   // which the session has until its next request
  bool wants_session = false;                               // full: what it names may become a session
};

class fetch_sessions {
 public:
  fetch_sessions(const fetch_session_limits& limits, const io::clock& clock, io::random_source& random,
                 std::size_t shard = 0, std::size_t shards = 1)
      : limits_(limits), clock_(clock), random_(random), shard_(shard), shards_(shards) {}

  // Takes what the request says of its session.
  opened_fetch open(const protocol::fetch_request& request, std::int16_t version);

  // `response` has the answer of each partition: of the session in its order, of a full request in the request's.
  // Sets the session's id, or an error; leaves of an incremental one what is news.
  void finish(const opened_fetch& opened, const protocol::fetch_request& request, std::int16_t version,
              protocol::fetch_response& response);

  fetch_session_stats statistics() const;

 private:
  struct entry {
    std::shared_ptr<fetch_session> session;
    io::time_point made;
    io::time_point used;
    std::size_t partitions = 0;  // as counted
    std::size_t bytes = 0;       // as counted
    bool may_yield = false;      // old enough to make room for a larger one
  };
  using table = std::unordered_map<std::int32_t, entry>;

  opened_fetch go_on(const protocol::fetch_request& request, std::int16_t version);
  std::int32_t create(const protocol::fetch_request& request, std::int16_t version,
                      const protocol::fetch_response& response);
  std::int32_t draw_id();
  // Room for one more session of this size, or for one that grew and is not counted now.
  bool make_room(std::size_t partitions, std::size_t bytes, std::size_t more_sessions);
  bool evict_one(std::size_t for_partitions);
  void count(entry& one);
  void uncount(entry& one);
  void remove(std::int32_t id);

  const fetch_session_limits limits_;
  const io::clock& clock_;
  io::random_source& random_;
  const std::size_t shard_;
  const std::size_t shards_;
  table entries_;
  std::set<std::pair<io::time_point, std::int32_t>> by_use_;  // those that are counted
  std::set<std::pair<std::size_t, std::int32_t>> by_size_;    // those of them that may yield
  fetch_session_stats stats_;
};

}  // namespace braidmq::server
