// Requests and answers of reading: what a Fetch or ListOffsets handler asks of a braid.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/memory_budget.hpp"
#include "braid/errc.hpp"
#include "io/clock.hpp"
#include "model/ids.hpp"
#include "partition/epoch_cache.hpp"

namespace braidmq::braid {

struct fetch_slice {
  model::topic_partition_id target;
  model::offset from;
  std::size_t max_bytes = 0;
  model::leader_epoch current_epoch = model::no_epoch;       // what the client believes; -1: does not say
  model::leader_epoch last_fetched_epoch = model::no_epoch;  // of the record before `from`; -1: does not say
};

struct fetch_request {
  std::vector<fetch_slice> slices;
  std::size_t min_bytes = 0;
  std::size_t max_bytes = 0;
  io::duration max_wait{};
  bool from_follower_allowed = false;  // a replica that does not lead may answer (KIP-392)
  // What the answer may hold, shared with all others; none: no bound. Without room it is read later or comes empty.
  std::shared_ptr<memory_budget> memory;
  // Set when nobody wants the answer any more; none: it is wanted.
  std::shared_ptr<const std::atomic<bool>> abandoned;
  bool is_confirmed = false;  // the replica's own: it was known to lead after the request had come
};

struct fetched_slice {
  std::error_code error;
  std::vector<bytes> batches;  // whole batches in order; the first may begin before `from`
  std::size_t size_bytes = 0;
  model::offset visible_end{-1};
  model::offset log_start{-1};
  std::optional<partition::epoch_end> diverging;  // KIP-320: the client's log is not a prefix of ours
};

struct fetch_answer {
  std::vector<fetched_slice> slices;  // as in the request
  memory_lease memory;                // of the batches
};

struct offset_query {
  enum class kind { earliest, latest, max_timestamp, at_timestamp };
  model::topic_partition_id target;
  kind what = kind::latest;
  std::int64_t timestamp_ms = -1;  // at_timestamp
  model::leader_epoch current_epoch = model::no_epoch;
};

struct offset_answer {
  std::error_code error;
  model::offset offset{-1};  // -1: there is none
  std::int64_t timestamp_ms = -1;
  model::leader_epoch epoch = model::no_epoch;
};

struct epoch_query {
  model::topic_partition_id target;
  model::leader_epoch epoch = model::no_epoch;          // whose end is asked for
  model::leader_epoch current_epoch = model::no_epoch;  // what the client believes; -1: does not say
};

struct epoch_answer {
  std::error_code error;
  partition::epoch_end found{model::no_epoch, model::offset(-1)};  // -1: such an epoch has not been
};

}  // namespace braidmq::braid
