// Makes one entry from everything that waits: the first step of group commit. A bounded FIFO of produce requests, and
// queues of what the leader itself has to say (changes to topics and the like), which go first; a request is never
// split over entries, and requests stay in the order in which they were added.
//
// Pure: no clock, no thread, no log. The replica decides when to build.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/unique_function.hpp"
#include "braid/entry.hpp"

namespace braidmq::braid {

struct aggregator_options {
  std::size_t entry_target_bytes = 4U << 20U;  // an entry is closed when the next request would take it beyond this
  std::size_t entry_max_bytes = 100U << 20U;   // a single request larger than this is refused
  std::size_t queue_max_bytes = 128U << 20U;   // requests beyond this wait outside, unaccepted
  std::size_t entry_expiries = 1024;           // producers that one entry forgets: a few milliseconds of apply
};

// Identifies a request between add() and the entry that carries it.
using request_id = strong_id<struct request_id_tag, std::uint64_t>;

// What one proposal changes of one topic.
struct topic_change {
  model::topic_id topic;
  std::vector<partition_creation> creations;
  std::optional<topic_config> config;
  std::optional<topic_deletion> deletion;
};

struct built_entry {
  entry_command command;                // leader_time_ms is left to the caller
  std::vector<request_id> requests;     // one for each unit, same order
  std::vector<model::topic_id> topics;  // one for each change that is in it
  std::size_t size_bytes = 0;
};

class aggregator {
 public:
  explicit aggregator(aggregator_options options) : options_(options) {}

  static std::size_t size_of(const produce_unit& unit);
  bool too_large(const produce_unit& unit) const { return size_of(unit) > options_.entry_max_bytes; }

  // `accepted` runs when the request is within the queue's bound, in FIFO order: at once, or when room has been made.
  void add(request_id id, produce_unit unit, unique_function<void()> accepted);
  void add(topic_change change);
  void add(const log_start_move& move) { moves_.push_back(move); }
  void add(producer_expiry expiry);
  void set_level(std::int16_t apply_level) { level_ = apply_level; }

  bool empty() const {
    return waiting_.empty() && changes_.empty() && moves_.empty() && expiries_.empty() && level_ == 0;
  }
  bool has_moves() const { return !moves_.empty(); }
  bool has_expiries() const { return !expiries_.empty(); }
  std::size_t queued_bytes() const { return accepted_bytes_; }

  // The next entry: a new apply level, changes to topics, moves of log starts, expiries of producers, then requests, up
  // to the target size, at least one of what there is.
  std::optional<built_entry> build();

  std::vector<request_id> take_requests();  // that wait, for the caller to answer
  std::vector<request_id> take_all();       // at the end of leadership: all else is dropped

 private:
  struct waiting {
    request_id id;
    produce_unit unit;
    std::size_t size_bytes;
    unique_function<void()> accepted;
  };

  void accept_what_fits();
  void build_changes(built_entry& entry);
  void build_expiries(built_entry& entry);

  aggregator_options options_;
  std::deque<waiting> waiting_;
  std::size_t accepted_count_ = 0;  // a prefix of waiting_
  std::size_t accepted_bytes_ = 0;
  std::deque<topic_change> changes_;
  std::deque<log_start_move> moves_;
  std::deque<producer_expiry> expiries_;  // none without producers
  std::int16_t level_ = 0;
};

}  // namespace braidmq::braid
