// One run of a cluster in which everything that may go wrong is drawn from a seed: messages are lost, doubled and
// reordered, nodes crash and lose what was not durable, sides are cut off; then everything heals, and the group must go
// on within a bounded number of ticks. The checker watches each step.
#pragma once

#include <cstdint>
#include <string>

namespace braidmq::raft::test {

// A bug that is put in, to prove that it would be found.
enum class plant {
  none,
  own_vote_early,      // a candidate counts its vote, and asks for others, before it is durable
  vote_not_persisted,  // the vote is lost with a crash, though it was reported as durable
  old_terms_counted,   // a leader commits entries of older terms by counting (paper, figure 8)
  early_report,        // writes are reported before they are durable
};

struct outcome {
  std::string violation;  // empty: none
  std::size_t committed = 0;
  std::size_t elections = 0;
  std::size_t reads = 0;
  std::uint64_t ticks_to_heal = 0;
};

// `strict`: promises are checked when they are made, too, and not only their consequences.
outcome run_random_lives(std::uint64_t seed, plant plant = plant::none, bool strict = true);

}  // namespace braidmq::raft::test
