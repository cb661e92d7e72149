#include "checker.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "words.hpp"

namespace braidmq::raft::test {
namespace {

std::uint64_t hash_entry(std::uint64_t before, const entry& e) {
  std::uint64_t h = before ^ (e.term.value() * 0x9e3779b97f4a7c15U) ^ static_cast<std::uint64_t>(e.kind);
  h ^= std::hash<std::string_view>()(as_string_view(e.payload));
  h *= 0xff51afd7ed558ccdU;
  return h ^ (h >> 32U);
}

}  // namespace

void checker::violate(std::string what) {
  if (violation_.empty()) violation_ = std::move(what);
}

void checker::refused(const replica& who, const error& why) {
  violate(fmt::format("{} cannot start: {}", show(who.id), why.to_string()));
}

checker::life& checker::life_of(const replica& who) {
  life& found = lives_.at(static_cast<std::size_t>(who.id.broker));
  if (found.number != who.lives) {
    found = {};
    found.number = who.lives;
    check_votes_kept(who);
  }
  return found;
}

// A new life must know the last vote of those before it.
void checker::check_votes_kept(const replica& who) {
  const auto after = votes_.upper_bound({who.id, max_term});
  if (!strict_ || after == votes_.begin() || std::prev(after)->first.first != who.id) return;
  const auto& [where, candidate] = *std::prev(after);
  const hard_state& durable = who.disk.state();
  if (durable.term > where.second || (durable.term == where.second && durable.vote == candidate)) return;
  violate(fmt::format("{} starts without its vote for {} in term {}", show(who.id), show(candidate), where.second));
}

void checker::saw(const replica& who, const ready& what) {
  life& life = life_of(who);
  if (!what.entries.empty()) {
    life.prefixes.resize(std::min<std::size_t>(life.prefixes.size(), what.entries.front().index.value() - 1));
  }
  for (const read_answer& answer : what.reads) {
    const auto asked = reads_.find(answer.context);
    if (asked == reads_.end()) {
      violate(
          fmt::format("{} answers read {}, which nobody asked or which was answered", show(who.id), answer.context));
      continue;
    }
    if (answer.index) {
      ++reads_answered_;
      if (answer.index->value() < asked->second) {
        violate(fmt::format("{} answers a read with index {}, {} were committed before it", show(who.id), *answer.index,
                            asked->second));
      }
    }
    reads_.erase(asked);
  }
}

void checker::sends(const replica& who, const letter& what, bool /*cut_off*/) {
  const hard_state& durable = who.disk.state();
  if (const auto* vote_given = std::get_if<vote_response>(&what.message.body);
      vote_given != nullptr && vote_given->granted && !vote_given->pre) {
    vote(who.id, what.message.term, what.message.to);
    const bool is_durable =
        durable.term > what.message.term || (durable.term == what.message.term && durable.vote == what.message.to);
    if (strict_ && !is_durable) violate(fmt::format("{} gives a vote that a crash would forget", show(who.id)));
  }
  if (const auto* ack = std::get_if<append_response>(&what.message.body); ack != nullptr && !ack->rejected && strict_) {
    const bool is_durable =
        ack->index <= who.disk.last() && ack->index.value() <= who.view.size() &&
        (ack->index == index(0) || who.disk.term_at(ack->index) == who.view[ack->index.value() - 1].term);
    if (!is_durable) violate(fmt::format("{} acknowledges entry {}, which is not durable", show(who.id), ack->index));
  }
}

void checker::vote(const node_id& voter, term term, const node_id& candidate) {
  const auto [at, fresh] = votes_.try_emplace({voter, term}, candidate);
  if (!fresh && at->second != candidate) {
    violate(fmt::format("{} votes for {} and {} in term {}", show(voter), show(at->second), show(candidate), term));
  }
}

void checker::settled(const replica& who) {
  life& life = life_of(who);
  check_log(who, life);
  check_commit(who, life);
  check_leader(who, life);
}

// Log matching: the hash of all before it belongs to (index, term).
void checker::check_log(const replica& who, life& life) {
  if (life.prefixes.size() > who.view.size()) life.prefixes.resize(who.view.size());
  while (life.prefixes.size() < who.view.size()) {
    const entry& e = who.view[life.prefixes.size()];
    const std::uint64_t prefix = hash_entry(life.prefixes.empty() ? 0 : life.prefixes.back(), e);
    life.prefixes.push_back(prefix);
    const auto [at, fresh] = prefix_at_.try_emplace((e.index.value() << 32U) | e.term.value(), prefix);
    if (!fresh && at->second != prefix) {
      violate(fmt::format("{} has another log up to entry {}/{} than others had", show(who.id), e.term, e.index));
    }
  }
}

void checker::check_leader(const replica& who, life& life) {
  const role now = who.node->current_role();
  if (now == role::leader && life.last_role != role::leader) {
    const term term = who.node->current_term();
    const auto [at, fresh] = leaders_.try_emplace(term, who.id);
    if (!fresh && at->second != who.id) {
      violate(fmt::format("{} and {} lead in term {}", show(at->second), show(who.id), term));
    }
    vote(who.id, term, who.id);
    const hard_state& durable = who.disk.state();
    if (strict_ && !(durable.term == term && durable.vote == who.id)) {
      violate(fmt::format("{} leads by an own vote that a crash would forget", show(who.id)));
    }
    check_completeness(who, life, 0);
  }
  life.last_role = now;
}

void checker::check_completeness(const replica& leader, const life& life, std::size_t from) {
  for (std::size_t i = from; i < committed_.size(); ++i) {
    if (committed_[i].at >= leader.node->current_term()) continue;
    if (i >= life.prefixes.size() || life.prefixes[i] != committed_[i].prefix) {
      return violate(fmt::format("{} leads in term {} without entry {}, committed in term {}", show(leader.id),
                                 leader.node->current_term(), i + 1, committed_[i].at));
    }
  }
}

void checker::check_commit(const replica& who, life& life) {
  const index commit = who.node->commit_index();
  if (commit < life.commit) {
    violate(fmt::format("commit of {} falls from {} to {}", show(who.id), life.commit, commit));
    return;
  }
  if (commit.value() > life.prefixes.size()) {
    violate(fmt::format("{} commits {}, its log ends at {}", show(who.id), commit, life.prefixes.size()));
    return;
  }
  if (strict_ && commit > life.commit && who.node->current_role() == role::leader &&
      who.view[commit.value() - 1].term != who.node->current_term()) {
    violate(fmt::format("{} commits entry {} of an older term by counting", show(who.id), commit));
  }
  const std::size_t known = committed_.size();
  for (std::size_t i = life.commit.value(); i < commit.value(); ++i) {
    if (i < committed_.size()) {
      if (committed_[i].prefix != life.prefixes[i]) {
        return violate(fmt::format("{} has committed another entry {}", show(who.id), i + 1));
      }
      continue;
    }
    committed_.push_back({life.prefixes[i], who.node->current_term()});
    std::size_t durable = 0;
    for (const replica& r : cluster_->replicas()) {
      durable += r.disk.term_at(index(i + 1)) == who.view[i].term ? 1 : 0;
    }
    if (strict_ && durable <= cluster_->replicas().size() / 2) {
      violate(fmt::format("{} commits entry {}, which is durable on {}", show(who.id), i + 1, durable));
    }
  }
  life.commit = commit;
  if (committed_.size() == known) return;
  for (const replica& r : cluster_->replicas()) {
    if (r.node && r.node->current_role() == role::leader && r.id != who.id) {
      check_completeness(r, life_of(r), known);
    }
  }
}

}  // namespace braidmq::raft::test
