// Drives raft nodes by a script and writes down what they answer. A script is a text of blocks
//
//   # words for the reader
//   verb key=value ...
//   ----
//   expected output
//
// parted by empty lines. A script of one node begins with `create`, one of several with `cluster`; tests/data/raft/
// README.md has all words.
#pragma once

#include <string>

namespace braidmq::raft::test {

// The script with the output that the nodes give now: equal to the script when nothing has changed.
std::string run_transcript(const std::string& script);

}  // namespace braidmq::raft::test
