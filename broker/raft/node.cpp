#include "raft/node.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace braidmq::raft {
namespace {

std::string describe(const node_id& id) {
  return fmt::format("broker {} (incarnation {})", id.broker, id.incarnation);
}

status check_membership(const config& config) {
  if (config.self.is_none()) return fail(errc::unsupported_membership, "this node has no broker id");
  if (config.voters.size() != 1) {
    return fail(errc::unsupported_membership,
                fmt::format("the group names {} voters; groups of exactly one are served", config.voters.size()));
  }
  const node_id& voter = config.voters.front();
  if (voter == config.self) return {};
  if (voter.broker == config.self.broker) {
    return fail(errc::unsupported_membership,
                fmt::format("the group's only voter is {}, but the data folder here is of incarnation {}: it was "
                            "formatted again, or is another broker's",
                            describe(voter), config.self.incarnation));
  }
  return fail(errc::unsupported_membership,
              fmt::format("the group's only voter is {}, not this node, {}", describe(voter), describe(config.self)));
}

status check_restored(const restored& restored) {
  const auto refuse = [](std::string words) { return fail(errc::contradictory_state, std::move(words)); };
  if ((restored.last_index == index(0)) != (restored.last_term == term(0))) {
    return refuse(fmt::format("last entry {} is of term {}", restored.last_index, restored.last_term));
  }
  if (restored.last_term > restored.state.term) {
    return refuse(
        fmt::format("last entry is of term {}, the current term is {}", restored.last_term, restored.state.term));
  }
  if (restored.state.commit > restored.last_index) {
    return refuse(fmt::format("commit is {}, the log ends at {}", restored.state.commit, restored.last_index));
  }
  if (restored.applied > restored.last_index) {
    return refuse(fmt::format("the state machine is at {}, the log ends at {}", restored.applied, restored.last_index));
  }
  return {};
}

// splitmix64 (Steele, Lea, Flood 2014): a few good bits from any seed.
std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace

result<node> node::create(config config, restored restored) {
  BRAID_CHECK(config.election_ticks > 0 && config.heartbeat_ticks > 0, "timeouts of no ticks");
  BRAID_TRY_VOID(check_membership(config));
  BRAID_TRY_VOID(check_restored(restored));
  return node(std::move(config), restored);
}

node::node(config config, const restored& restored)
    : config_(std::move(config)),
      random_state_(config_.seed),
      term_(restored.state.term),
      vote_(restored.state.vote),
      last_index_(restored.last_index),
      last_term_(restored.last_term),
      persisted_(restored.last_index),
      // What was applied was committed, also when the stored hint is older.
      commit_(std::max(restored.state.commit, restored.applied)),
      applied_(restored.applied),
      handed_state_(restored.state),
      handed_commit_(restored.applied) {
  reset_election_timer();
}

void node::reset_election_timer() {
  ticks_ = 0;
  election_timeout_ =
      config_.election_ticks + static_cast<std::uint32_t>(next_random(random_state_) % config_.election_ticks);
}

void node::tick() {
  if (role_ == role::leader) return;  // nobody to send a heartbeat to
  if (++ticks_ >= election_timeout_) campaign();
}

void node::campaign() {
  if (role_ != role::follower) return;
  role_ = role::candidate;
  leader_ = {};
  ++term_;
  vote_ = config_.self;
  reset_election_timer();
}

// Only other voters have a say, and create() has refused all others.
void node::step(const message& /*message*/) {}

result<index> node::propose(bytes payload) {
  if (role_ != role::leader) return fail(errc::not_leader);
  append(entry_kind::command, std::move(payload));
  return last_index_;
}

void node::append(entry_kind kind, bytes payload) {
  ++last_index_;
  last_term_ = term_;
  unstable_.push_back({term_, last_index_, kind, std::move(payload)});
}

bool node::has_ready() const {
  return !unstable_.empty() || handed_state_.term != term_ || handed_state_.vote != vote_ || handed_commit_ < commit_;
}

ready node::take_ready() {
  ready result;
  const bool office_changed = handed_state_.term != term_ || handed_state_.vote != vote_;
  if (office_changed || !unstable_.empty()) {
    const hard_state now{term_, vote_, commit_};
    if (now != handed_state_) result.state = now;
    handed_state_ = now;
    result.entries = std::exchange(unstable_, {});
    in_flight_.push_back({last_index_, last_term_, term_, vote_});
  }
  BRAID_CHECK(commit_ >= handed_commit_, "commit falls from {} to {}", handed_commit_, commit_);
  result.commit = handed_commit_ = commit_;
  return result;
}

void node::persisted(index last, term last_term) {
  BRAID_CHECK(!in_flight_.empty(), "entry {} of term {} was not handed out to be persisted", last, last_term);
  const unpersisted done = std::move(in_flight_.front());
  in_flight_.pop_front();
  BRAID_CHECK(done.last == last && done.last_term == last_term, "persisted {} of term {}, in turn was {} of term {}",
              last, last_term, done.last, done.last_term);
  BRAID_CHECK(persisted_ <= last && last <= last_index_, "persisted {} after {}, of {}", last, persisted_, last_index_);
  persisted_ = last;
  // The vote counts when it can no longer be forgotten; only then is there a leader.
  if (role_ == role::candidate && done.term == term_ && done.vote == config_.self) become_leader();
  advance_commit();
}

void node::become_leader() {
  role_ = role::leader;
  leader_ = config_.self;
  append(entry_kind::noop, {});
  own_term_start_ = last_index_;
}

// The majority is this node. Entries of older terms are committed by the first one of the own term only (paper, 5.4.2
// and figure 8).
void node::advance_commit() {
  if (role_ != role::leader || persisted_ < own_term_start_) return;
  BRAID_CHECK(persisted_ >= commit_, "commit falls from {} to {}", commit_, persisted_);
  commit_ = persisted_;
}

void node::applied(index index) {
  BRAID_CHECK(applied_ <= index && index <= handed_commit_, "applied {} after {}, commit is {}", index, applied_,
              handed_commit_);
  applied_ = index;
}

bool node::serves() const {
  return role_ == role::leader && applied_ >= own_term_start_;
}

}  // namespace braidmq::raft
