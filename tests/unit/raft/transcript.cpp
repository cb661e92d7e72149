#include "transcript.hpp"

#include <deque>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "cluster_session.hpp"
#include "words.hpp"

namespace braidmq::raft::test {
namespace {

class session {
 public:
  std::string run(const command& c) {
    if (c.verb == "create") return create(c);
    if (!node_) throw std::invalid_argument("no node yet");
    if (c.verb == "campaign") return node_->campaign(), office();
    if (c.verb == "tick") {
      for (std::uint64_t i = c.number("n", 1); i > 0; --i) node_->tick();
      return office();
    }
    if (c.verb == "propose") {
      const auto at = node_->propose(bytes::copy_of(c.text("data")));
      return at ? fmt::format("index={}\n", *at) : at.error().to_string() + "\n";
    }
    if (c.verb == "step") {
      node_->step({parse_node(c.text("from")), self_, term(c.number("term")), heartbeat{}});
      return office();
    }
    if (c.verb == "ready") return ready();
    if (c.verb == "persisted") {
      if (owed_.empty()) throw std::invalid_argument("nothing to report as persisted");
      node_->persisted(owed_.front().first, owed_.front().second);
      owed_.pop_front();
      return fmt::format("{} commit={}\n", show(node_->current_role()), node_->commit_index());
    }
    if (c.verb == "applied") return node_->applied(index(c.number("to"))), status_line();
    if (c.verb == "status") return status_line();
    throw std::invalid_argument("unknown verb " + c.verb);
  }

 private:
  std::string create(const command& c) {
    config config;
    config.self = self_ = parse_node(c.text("self"));
    for (const std::string& voter : split(c.text("voters"), ',')) config.voters.push_back(parse_node(voter));
    config.election_ticks = static_cast<std::uint32_t>(c.number("election_ticks", 10));
    config.seed = c.number("seed", 0);
    restored from;
    from.state.term = term(c.number("term", 0));
    if (c.arguments.contains("vote")) from.state.vote = parse_node(c.text("vote"));
    from.state.commit = index(c.number("commit", 0));
    from.last_index = index(c.number("last", 0));
    from.last_term = term(c.number("last_term", 0));
    from.applied = index(c.number("applied", 0));
    owed_.clear();
    auto made = node::create(config, from);
    if (!made) return made.error().to_string() + "\n";
    node_.emplace(std::move(*made));
    return status_line();
  }

  std::string ready() {
    if (!node_->has_ready()) return "nothing\n";
    const raft::ready r = node_->take_ready();
    std::string out;
    if (r.state) out += "state " + show(*r.state) + "\n";
    for (const entry& e : r.entries) out += "entry " + show(e) + "\n";
    out += fmt::format("commit={}\n", r.commit);
    if (!r.messages.empty()) out += "messages\n";
    if (needs_persisting(r)) owed_.emplace_back(node_->last_index(), node_->last_term());
    return out;
  }

  std::string office() const {
    return fmt::format("{} term={} ready={}\n", show(node_->current_role()), node_->current_term(), node_->has_ready());
  }
  std::string status_line() const {
    return fmt::format("{} term={} leader={} last={} persisted={} commit={} applied={} serves={}\n",
                       show(node_->current_role()), node_->current_term(), show(node_->leader()), node_->last_index(),
                       node_->persisted_index(), node_->commit_index(), node_->applied_index(), node_->serves());
  }

  std::optional<node> node_;
  node_id self_;
  std::deque<std::pair<index, term>> owed_;
};

}  // namespace

std::string run_transcript(const std::string& script) {
  session one;
  std::optional<cluster_session> many;
  std::istringstream lines(script);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    out += line + "\n";
    if (line.empty() || line.front() == '#') continue;
    const command c = parse_command(line);
    if (c.verb == "cluster") many.emplace(c);
    out += "----\n" + (many ? many->run(c) : one.run(c));
    if (!std::getline(lines, line) || line != "----") throw std::invalid_argument("---- must follow a command");
    while (std::getline(lines, line) && !line.empty()) {
    }
    if (lines) out += "\n";
  }
  return out;
}

}  // namespace braidmq::raft::test
