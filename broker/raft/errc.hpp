// Why a node refuses what it is asked for. Nothing has happened when one of these is returned.
#pragma once

#include <system_error>

namespace braidmq::raft {

enum class errc {
  not_leader = 1,          // propose, transfer: this node does not lead; read_index: nobody is known to lead
  unsupported_membership,  // the configuration names voters that this node cannot serve with
  contradictory_state,     // what storage remembers cannot be the state of a Raft node
  transferring,            // propose, transfer: leadership is being handed over; ends within an election timeout
  no_such_voter,           // transfer: there is no such other voter
  not_ready,               // read_index: this leader has not yet committed an entry of its own term
  too_many_reads,          // read_index: config::max_reads wait already
};
std::error_code make_error_code(errc code);

}  // namespace braidmq::raft

template <>
struct std::is_error_code_enum<braidmq::raft::errc> : std::true_type {};
