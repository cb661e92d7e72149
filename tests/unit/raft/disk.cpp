#include "disk.hpp"

#include <utility>

#include "base/check.hpp"

namespace braidmq::raft::test {

std::optional<term> disk::term_at(index at) const {
  if (at == index(0)) return term(0);
  return at <= last() ? std::optional(log_[at.value() - 1].term) : std::nullopt;
}

restored disk::found() const {
  restored result{.state = state_, .last_index = last(), .last_term = *term_at(last()), .applied = base_, .terms = {}};
  for (index at = std::max(base_, index(1)); at <= last(); ++at) {
    if (result.terms.empty() || result.terms.back().term != *term_at(at)) result.terms.push_back({at, *term_at(at)});
  }
  return result;
}

disk::write disk::complete() {
  BRAID_CHECK(!writes_.empty(), "no write is under way");
  write done = std::move(writes_.front());
  writes_.pop_front();
  if (done.state) state_ = *done.state;
  for (const entry& e : done.entries) {
    BRAID_CHECK(e.index <= last() + 1, "entry {} after {}", e.index, last());
    log_.resize(e.index.value() - 1);
    log_.push_back(e);
  }
  return done;
}

std::optional<std::vector<entry>> disk::read(index from, index to, std::size_t max_bytes) const {
  if (from <= base_) return std::nullopt;
  std::vector<entry> result;
  std::size_t bytes = 0;
  for (index at = from; at < to && at <= last(); ++at) {
    bytes += entry_cost(log_[at.value() - 1]);
    if (!result.empty() && bytes > max_bytes) break;
    result.push_back(log_[at.value() - 1]);
  }
  return result.empty() ? std::nullopt : std::optional(std::move(result));
}

void disk::install(const disk& other, index through) {
  crash();
  const bool goes_on = term_at(through) == other.term_at(through);
  if (!goes_on) log_.clear();
  for (index at = index(1); at <= through; ++at) {
    if (at <= last()) {
      log_[at.value() - 1] = other.log_[at.value() - 1];
    } else {
      log_.push_back(other.log_[at.value() - 1]);
    }
  }
  base_ = through;
  state_.commit = std::max(state_.commit, through);
  if (state_.term < *term_at(last())) state_ = {*term_at(last()), {}, state_.commit};
}

void disk::set(hard_state state, std::vector<entry> log) {
  state_ = state;
  log_ = std::move(log);
}

}  // namespace braidmq::raft::test
