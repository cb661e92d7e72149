// The words of transcripts: commands that are read, and how nodes, terms, entries and messages are written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "raft/node.hpp"

namespace braidmq::raft::test {

// verb key=value ...
struct command {
  std::string verb;
  std::map<std::string, std::string> arguments;

  bool has(const std::string& key) const { return arguments.contains(key); }
  std::string text(const std::string& key) const;
  std::uint64_t number(const std::string& key, std::optional<std::uint64_t> otherwise = std::nullopt) const;
};
command parse_command(const std::string& line);

// B: broker B in the life B; B/X in the life X; none.
node_id parse_node(const std::string& text);
std::vector<std::string> split(const std::string& text, char separator);

std::string show(const node_id& id);
std::string show(role role);
std::string show(const entry& entry);
std::string show(const hard_state& state);
// Without the nodes: "append term=3 prev=2/7 commit=6 3/8 noop".
std::string show(const message& message);
std::string kind_of(const message& message);

}  // namespace braidmq::raft::test
