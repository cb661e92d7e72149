#include "raft/log_view.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "raft/config.hpp"

namespace braidmq::raft {

log_view::log_view(std::vector<term_run> terms, index last, term last_term)
    : terms_(std::move(terms)), last_(last), taken_(last) {
  if (terms_.empty()) {
    terms_.push_back({last, last_term});
  } else if (terms_.front().first == index(1)) {
    terms_.insert(terms_.begin(), {index(0), term(0)});
  }
}

std::optional<term> log_view::term_at(index at) const {
  if (at > last_ || at < first_known()) return std::nullopt;
  const auto after = std::upper_bound(terms_.begin(), terms_.end(), at,
                                      [](index wanted, const term_run& run) { return wanted < run.first; });
  return std::prev(after)->term;
}

std::optional<index> log_view::last_of_term(index at, term limit) const {
  at = std::min(at, last_);
  // The first run that is too new, or that begins too late.
  const auto beyond = std::find_if(terms_.begin(), terms_.end(),
                                   [&](const term_run& run) { return run.term > limit || run.first > at; });
  if (beyond == terms_.begin()) return std::nullopt;
  return beyond == terms_.end() ? at : std::min(at, beyond->first - 1);
}

void log_view::append(entry entry) {
  BRAID_CHECK(entry.index == last_ + 1, "entry {} after {}", entry.index, last_);
  BRAID_CHECK(entry.term >= last_term(), "entry {} of term {} after term {}", entry.index, entry.term, last_term());
  if (entry.term > last_term()) terms_.push_back({entry.index, entry.term});
  last_ = entry.index;
  memory_bytes_ += entry_cost(entry);
  memory_.push_back(std::move(entry));
}

void log_view::truncate(index from) {
  BRAID_CHECK(from > first_known() && from <= last_, "truncation at {} of {} to {}", from, first_known(), last_);
  while (!memory_.empty() && memory_.back().index >= from) {
    memory_bytes_ -= entry_cost(memory_.back());
    memory_.pop_back();
  }
  while (terms_.back().first >= from) terms_.pop_back();
  last_ = from - 1;
  taken_ = std::min(taken_, last_);
}

std::vector<entry> log_view::take_new() {
  const auto count = static_cast<std::ptrdiff_t>(last_ - taken_);
  taken_ = last_;
  return {memory_.end() - count, memory_.end()};
}

std::vector<entry> log_view::copy(index from, std::size_t max_bytes) const {
  BRAID_CHECK(from >= first_in_memory() && from <= last_, "entry {} is not in memory", from);
  std::vector<entry> result;
  std::size_t bytes = 0;
  for (std::size_t i = from - first_in_memory(); i < memory_.size(); ++i) {
    bytes += entry_cost(memory_[i]);
    if (!result.empty() && bytes > max_bytes) break;
    result.push_back(memory_[i]);
  }
  return result;
}

void log_view::release(index durable, std::size_t keep_bytes) {
  // What is not durable stays, for storage could not give it.
  durable = std::min(durable, taken_);
  while (!memory_.empty() && memory_.front().index <= durable && memory_bytes_ > keep_bytes) {
    memory_bytes_ -= entry_cost(memory_.front());
    memory_.pop_front();
  }
}

void log_view::forget(index through) {
  BRAID_CHECK(through <= last_, "entry {} is forgotten, the log ends at {}", through, last_);
  if (through <= first_known()) return;
  const auto after = std::upper_bound(terms_.begin(), terms_.end(), through,
                                      [](index wanted, const term_run& run) { return wanted < run.first; });
  terms_.erase(terms_.begin(), std::prev(after));
  terms_.front().first = through;
}

}  // namespace braidmq::raft
