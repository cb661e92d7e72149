#include "raft/progress.hpp"

#include <algorithm>
#include <utility>

namespace braidmq::raft {

void progress::reset(index next) {
  *this = progress(id_);
  next_ = next;
}

void progress::become_probe(index next) {
  state_ = state::probe;
  next_ = std::max(next, match_ + 1);
  window_.clear();
  window_bytes_ = 0;
  entries_request_ = 0;
  probe_out_ = probe_is_old_ = ping_ = false;
}

void progress::become_snapshot() {
  become_probe(next_);
  state_ = state::snapshot;
}

bool progress::may_send(index last, std::size_t max_appends, std::size_t max_bytes) const {
  if (entries_request_ != 0) return false;
  switch (state_) {
    case state::probe:
      return !probe_out_;
    case state::replicate:
      return next_ <= last && (window_.empty() || (window_.size() < max_appends && window_bytes_ < max_bytes));
    case state::snapshot:
      return false;
  }
  return false;
}

void progress::sent(index last, std::size_t bytes, index commit) {
  if (state_ == state::probe) {
    probe_out_ = true;
    return;
  }
  commit_told_ = std::max(commit_told_, std::min(commit, last));
  if (bytes == 0) return;
  window_.push_back({last, bytes});
  window_bytes_ += bytes;
  next_ = last + 1;
}

bool progress::accepted(index index) {
  const bool news = index > match_;
  match_ = std::max(match_, index);
  if (next_ <= match_) {
    next_ = match_ + 1;
    entries_request_ = 0;  // for what it turns out to have
  }
  while (!window_.empty() && window_.front().last <= match_) {
    window_bytes_ -= window_.front().bytes;
    window_.pop_front();
  }
  if (state_ == state::probe) {
    become_probe(match_ + 1);
    state_ = state::replicate;
  }
  return news;
}

bool progress::is_news(index prev) const {
  switch (state_) {
    case state::probe:
      return probe_out_ && prev == next_ - 1;
    case state::replicate:
      return prev > match_;
    case state::snapshot:
      return false;
  }
  return false;
}

void progress::answered_heartbeat(index last) {
  if (probe_is_old_) probe_out_ = false;
  probe_is_old_ = probe_out_;
  ping_ = state_ == state::replicate && match_ < last && match_ == match_at_heartbeat_;
  match_at_heartbeat_ = match_;
}

bool progress::owes_commit(index commit) const {
  return state_ == state::replicate && commit_told_ < commit_for(commit);
}

bool progress::take_heard() {
  constexpr std::uint32_t long_enough = 60;
  heard_before_ = std::exchange(heard_, false);
  heard_in_a_row_ = heard_before_ ? std::min(heard_in_a_row_ + 1, long_enough) : 0;
  return heard_before_;
}

}  // namespace braidmq::raft
