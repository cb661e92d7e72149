// How a member of the metadata quorum that does not lead gives a command to the one that does.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/unique_function.hpp"
#include "io/clock.hpp"
#include "raft/types.hpp"

namespace braidmq::metadata {

// Where the leader has put a command: if the entry at this index turns out to have this term, it is that command.
struct proposed {
  raft::index index;
  raft::term term;
};

// Called on the metadata executor; `done` runs there, once, never inside the call. Errors: not_controller when the
// command was certainly not taken, timed_out when nothing is known.
class leader_link {
 public:
  virtual ~leader_link() = default;
  virtual void propose(const raft::node_id& leader, bytes command, io::duration timeout,
                       unique_function<void(result<proposed>)> done) = 0;
};

}  // namespace braidmq::metadata
