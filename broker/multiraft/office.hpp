// Who leads a Raft group, as one of its nodes knows it. A value: handed to threads that must not look at the group.
#pragma once

#include "raft/types.hpp"

namespace braidmq::multiraft {

struct office {
  raft::term term;
  raft::node_id leader;  // none: nobody is known to lead in this term
  bool serves = false;   // this node leads, and has applied an entry of its own term

  friend bool operator==(const office&, const office&) = default;
};

}  // namespace braidmq::multiraft
