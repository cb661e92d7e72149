// Drives a raft::node by a script and writes down what it answers. A script is a text of blocks
//
//   # words for the reader
//   verb key=value ...
//   ----
//   expected output
//
// parted by empty lines. Verbs: create self=B voters=B,B.. [term= vote= commit= last= last_term= applied=
// election_ticks= seed=] | campaign | tick [n=] | propose data= | ready | persisted | applied to= | step from= term= |
// status. `persisted` reports the oldest ready that was taken and not yet reported. Brokers have the incarnation B, or
// X with B/X.
#pragma once

#include <string>

namespace braidmq::raft::test {

// The script with the output that the node gives now: equal to the script when nothing has changed.
std::string run_transcript(const std::string& script);

}  // namespace braidmq::raft::test
