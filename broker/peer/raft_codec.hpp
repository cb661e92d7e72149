// Messages of Raft groups as frames of a channel and back (docs/formats/peer.md). A frame is believed as far as its
// form goes; what a node makes of terms and indexes is the node's matter (raft/message.hpp).
//
// Pure; any thread. Errors of decode: errc::bad_frame.
#pragma once

#include "base/result.hpp"
#include "peer/errc.hpp"
#include "raft/message.hpp"

namespace braidmq::peer {

struct group_message {
  raft::group_id group;
  raft::message message;
};

bytes encode(raft::group_id group, const raft::message& message);

// `from` and `to` are the ends of the connection. Payloads of entries share the frame's memory.
result<group_message> decode(const bytes& frame, const raft::node_id& from, const raft::node_id& to);

// About what a message takes in a frame beside the payloads of its entries, and what each entry adds.
inline constexpr std::size_t message_overhead_bytes = 64;
inline constexpr std::size_t entry_overhead_bytes = 24;

}  // namespace braidmq::peer
