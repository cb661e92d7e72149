#include "raft/config.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.hpp"

namespace braidmq::raft {
namespace {

std::string describe(const node_id& id) {
  return fmt::format("broker {} (incarnation {})", id.broker, id.incarnation);
}

std::string describe(const std::vector<node_id>& voters) {
  std::string words;
  for (const node_id& voter : voters) words += (words.empty() ? "" : ", ") + describe(voter);
  return words;
}

tl::unexpected<error> contradiction(std::string words) {
  return fail(errc::contradictory_state, std::move(words));
}

status check_terms(const config& config, const restored& restored) {
  const std::vector<term_run>& runs = restored.terms;
  if (runs.empty()) {
    if (config.voters.size() == 1 || restored.last_index == index(0)) return {};
    return contradiction("the terms of the log's entries are not known");
  }
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].first <= runs[i - 1].first || runs[i].term <= runs[i - 1].term) {
      return contradiction(fmt::format("entries from {} on are of term {}, those from {} on of term {}", runs[i].first,
                                       runs[i].term, runs[i - 1].first, runs[i - 1].term));
    }
  }
  if (runs.back().first > restored.last_index || runs.back().term != restored.last_term) {
    return contradiction(fmt::format("the log ends with entry {} of term {}, its terms with {} of term {}",
                                     restored.last_index, restored.last_term, runs.back().first, runs.back().term));
  }
  // A log's own first entry needs nothing before it.
  const index commit = std::max(restored.state.commit, restored.applied);
  if (config.voters.size() > 1 && runs.front().first > std::max(commit, index(1))) {
    return contradiction(fmt::format("terms are known from entry {} on, {} are committed", runs.front().first, commit));
  }
  return {};
}

}  // namespace

status check(const config& config) {
  const auto refuse = [](std::string words) { return fail(errc::unsupported_membership, std::move(words)); };
  BRAID_CHECK(config.election_ticks > 0 && config.heartbeat_ticks > 0, "timeouts of no ticks");
  BRAID_CHECK(config.voters.size() <= 1 || config.heartbeat_ticks < config.election_ticks,
              "a heartbeat every {} ticks, an election after {}", config.heartbeat_ticks, config.election_ticks);
  BRAID_CHECK(config.max_in_flight_appends > 0 && config.max_reads > 0);
  if (config.self.is_none()) return refuse("this node has no broker id");
  if (config.voters.empty()) return refuse("the group names no voters");
  if (config.voters.size() > config::max_voters) {
    return refuse(
        fmt::format("the group names {} voters; at most {} are served", config.voters.size(), config::max_voters));
  }
  for (auto voter = config.voters.begin(); voter != config.voters.end(); ++voter) {
    if (voter->is_none()) return refuse("one of the group's voters has no broker id");
    if (std::any_of(config.voters.begin(), voter, [&](const node_id& v) { return v.broker == voter->broker; })) {
      return refuse(fmt::format("the group names {} twice", describe(*voter)));
    }
  }
  for (const node_id& voter : config.voters) {
    if (voter == config.self) return {};
    if (voter.broker != config.self.broker) continue;
    return refuse(
        fmt::format("the group's voter is {}, but the data folder here is of incarnation {}: it was "
                    "formatted again, or is another broker's",
                    describe(voter), config.self.incarnation));
  }
  return refuse(
      fmt::format("the group's voters are {}, not this node, {}", describe(config.voters), describe(config.self)));
}

status check(const config& config, const restored& restored) {
  if ((restored.last_index == index(0)) != (restored.last_term == term(0))) {
    return contradiction(fmt::format("last entry {} is of term {}", restored.last_index, restored.last_term));
  }
  if (restored.last_term > restored.state.term) {
    return contradiction(
        fmt::format("last entry is of term {}, the current term is {}", restored.last_term, restored.state.term));
  }
  if (restored.state.term > max_term || restored.last_index > max_index) {
    return contradiction(
        fmt::format("term {} and last entry {} are beyond every bound", restored.state.term, restored.last_index));
  }
  if (restored.state.commit > restored.last_index) {
    return contradiction(fmt::format("commit is {}, the log ends at {}", restored.state.commit, restored.last_index));
  }
  if (restored.applied > restored.last_index) {
    return contradiction(
        fmt::format("the state machine is at {}, the log ends at {}", restored.applied, restored.last_index));
  }
  return check_terms(config, restored);
}

}  // namespace braidmq::raft
