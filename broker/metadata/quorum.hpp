// How far the voters of the metadata quorum are, as one of them knows it. A value.
#pragma once

#include <optional>
#include <vector>

#include "raft/types.hpp"

namespace braidmq::metadata {

struct voter_progress {
  raft::node_id voter;
  std::optional<raft::index> last;  // durable there as far as the leader knows; none: not known here
};

struct quorum_state {
  raft::term term;
  raft::node_id leader;  // none: nobody is known to lead
  raft::index commit;
  std::vector<voter_progress> voters;
};

}  // namespace braidmq::metadata
