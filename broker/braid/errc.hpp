// Why a braid refused: what handlers turn into Kafka's error codes (server/error_mapping.cpp).
#pragma once

#include <system_error>

namespace braidmq::braid {

enum class errc {
  not_leader = 1,         // this replica does not serve now: a new leader, or none yet
  unknown_partition,      // no such partition in this braid (never created, or deleted)
  out_of_order_sequence,  // idempotent producer: a gap
  stale_producer_epoch,   // idempotent producer: fenced
  not_attempted,          // of an atomic write that another slice made the braid refuse
  too_large,              // the request does not fit into one entry
  timed_out,              // outcome unknown: may still be applied
  offset_out_of_range,
  fenced_leader_epoch,   // the client's leader epoch is older than ours (KIP-320)
  unknown_leader_epoch,  // ... or newer
  storage_failed,
  disk_full,  // nothing was written: the disk has too little space
  // A replica that does not lead has not yet got so far, or cannot vouch for what it has; the client asks again.
  offset_not_available,
  later_version,  // an entry, or a state, that only a later version of the broker can apply
  stopped,
};

std::error_code make_error_code(errc code);

}  // namespace braidmq::braid

template <>
struct std::is_error_code_enum<braidmq::braid::errc> : std::true_type {};
