#include "words.hpp"

#include <sstream>
#include <stdexcept>

namespace braidmq::raft::test {
namespace {

struct message_words {
  std::string operator()(const vote_request& m) const {
    return fmt::format(" last={}/{}{}", m.last_term, m.last_index, m.transfer ? " transfer" : "");
  }
  std::string operator()(const vote_response& m) const {
    return fmt::format(" asked={} {}", m.asked, m.granted ? "granted" : "refused");
  }
  std::string operator()(const append_request& m) const {
    std::string words = fmt::format(" prev={}/{} commit={}", m.prev_term, m.prev_index, m.commit);
    for (const entry& e : m.entries) words += " | " + show(e);
    return words;
  }
  std::string operator()(const append_response& m) const {
    return m.rejected ? fmt::format(" rejected prev={} hint={}/{}", m.index, m.hint_term, m.hint_index)
                      : fmt::format(" durable={}", m.index);
  }
  std::string operator()(const heartbeat& m) const { return fmt::format(" commit={} round={}", m.commit, m.round); }
  std::string operator()(const heartbeat_response& m) const { return fmt::format(" round={}", m.round); }
  std::string operator()(const commit_notice& m) const { return fmt::format(" commit={}", m.commit); }
  std::string operator()(const read_index_request&) const { return ""; }
  std::string operator()(const read_index_response& m) const {
    return m.refused ? " refused" : fmt::format(" index={}", m.index);
  }
  std::string operator()(const timeout_now&) const { return ""; }
};

struct message_kind {
  std::string operator()(const vote_request& m) const { return m.pre ? "pre_vote" : "vote"; }
  std::string operator()(const vote_response& m) const { return m.pre ? "pre_vote_answer" : "vote_answer"; }
  std::string operator()(const append_request&) const { return "append"; }
  std::string operator()(const append_response&) const { return "append_answer"; }
  std::string operator()(const heartbeat&) const { return "heartbeat"; }
  std::string operator()(const heartbeat_response&) const { return "heartbeat_answer"; }
  std::string operator()(const commit_notice&) const { return "commit_notice"; }
  std::string operator()(const read_index_request&) const { return "read_index"; }
  std::string operator()(const read_index_response&) const { return "read_index_answer"; }
  std::string operator()(const timeout_now&) const { return "timeout_now"; }
};

}  // namespace

std::string command::text(const std::string& key) const {
  const auto found = arguments.find(key);
  if (found == arguments.end()) throw std::invalid_argument(verb + " needs " + key);
  return found->second;
}

std::uint64_t command::number(const std::string& key, std::optional<std::uint64_t> otherwise) const {
  if (otherwise && !has(key)) return *otherwise;
  return std::stoull(text(key));
}

command parse_command(const std::string& line) {
  std::istringstream words(line);
  command result;
  words >> result.verb;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw std::invalid_argument("not key=value: " + word);
    result.arguments[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return result;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

node_id parse_node(const std::string& text) {
  if (text == "none") return {};
  const std::size_t slash = text.find('/');
  node_id id;
  id.broker = std::stoi(text);
  const std::string life = slash == std::string::npos ? text : text.substr(slash + 1);
  id.incarnation.octets[15] = static_cast<std::uint8_t>(std::stoi(life));
  return id;
}

std::string show(const node_id& id) {
  if (id.is_none()) return "none";
  const int life = id.incarnation.octets[15];
  return life == id.broker ? std::to_string(id.broker) : fmt::format("{}/{}", id.broker, life);
}

std::string show(role role) {
  switch (role) {
    case role::follower:
      return "follower";
    case role::pre_candidate:
      return "pre-candidate";
    case role::candidate:
      return "candidate";
    case role::leader:
      return "leader";
  }
  return "?";
}

std::string show(const entry& entry) {
  return fmt::format("{}/{} {}{}", entry.term, entry.index, entry.kind == entry_kind::noop ? "noop" : "command ",
                     as_string_view(entry.payload));
}

std::string show(const hard_state& state) {
  return fmt::format("term={} vote={} commit={}", state.term, show(state.vote), state.commit);
}

std::string kind_of(const message& message) {
  return std::visit(message_kind(), message.body);
}

std::string show(const message& message) {
  return fmt::format("{} term={}{}", kind_of(message), message.term, std::visit(message_words(), message.body));
}

}  // namespace braidmq::raft::test
