#include "braid/aggregator.hpp"

#include <utility>

namespace braidmq::braid {

std::size_t aggregator::size_of(const produce_unit& unit) {
  std::size_t size = slice_overhead_bytes;
  for (const append_slice& slice : unit.slices) size += slice.batch.size() + slice_overhead_bytes;
  return size;
}

void aggregator::add(request_id id, produce_unit unit, unique_function<void()> accepted) {
  const std::size_t size = size_of(unit);
  waiting_.push_back({id, std::move(unit), size, std::move(accepted)});
  accept_what_fits();
}

void aggregator::add(topic_change change) {
  changes_.push_back(std::move(change));
}

void aggregator::add(producer_expiry expiry) {
  if (!expiry.producers.empty()) expiries_.push_back(std::move(expiry));
}

std::optional<built_entry> aggregator::build() {
  if (empty()) return std::nullopt;
  built_entry entry;
  entry.command.apply_level = std::exchange(level_, std::int16_t{0});
  build_changes(entry);
  for (; !moves_.empty() && entry.size_bytes < options_.entry_target_bytes; moves_.pop_front()) {
    entry.size_bytes += slice_overhead_bytes;
    entry.command.log_starts.push_back(moves_.front());
  }
  build_expiries(entry);
  while (accepted_count_ > 0) {
    waiting& next = waiting_.front();
    if (entry.size_bytes > 0 && entry.size_bytes + next.size_bytes > options_.entry_target_bytes) break;
    entry.size_bytes += next.size_bytes;
    entry.requests.push_back(next.id);
    entry.command.units.push_back(std::move(next.unit));
    accepted_bytes_ -= next.size_bytes;
    --accepted_count_;
    waiting_.pop_front();
  }
  accept_what_fits();
  return entry;
}

void aggregator::build_changes(built_entry& entry) {
  while (!changes_.empty()) {
    topic_change& next = changes_.front();
    std::size_t size = (next.creations.size() + (next.deletion ? 1 : 0)) * slice_overhead_bytes;
    if (next.config) size += config_size(*next.config);
    if (entry.size_bytes > 0 && entry.size_bytes + size > options_.entry_target_bytes) return;
    entry.size_bytes += size;
    entry.topics.push_back(next.topic);
    auto& creations = entry.command.creations;
    creations.insert(creations.end(), next.creations.begin(), next.creations.end());
    if (next.config) entry.command.configs.push_back(std::move(*next.config));
    if (next.deletion) entry.command.deletions.push_back(*next.deletion);
    changes_.pop_front();
  }
}

void aggregator::build_expiries(built_entry& entry) {
  std::size_t left = options_.entry_expiries;
  while (!expiries_.empty() && left > 0 && entry.size_bytes < options_.entry_target_bytes) {
    producer_expiry& next = expiries_.front();
    producer_expiry part{next.target, next.idle_since_ms, {}};
    if (next.producers.size() <= left) {
      part.producers = std::move(next.producers);
      expiries_.pop_front();
    } else {
      const auto rest = next.producers.end() - static_cast<std::ptrdiff_t>(left);
      part.producers.assign(rest, next.producers.end());
      next.producers.erase(rest, next.producers.end());
    }
    left -= part.producers.size();
    entry.size_bytes += expiry_size(part);
    entry.command.expiries.push_back(std::move(part));
  }
}

std::vector<request_id> aggregator::take_all() {
  changes_.clear();
  moves_.clear();
  expiries_.clear();
  level_ = 0;
  return take_requests();
}

std::vector<request_id> aggregator::take_requests() {
  std::vector<request_id> ids;
  std::deque<waiting> taken = std::exchange(waiting_, {});
  accepted_count_ = 0;
  accepted_bytes_ = 0;
  ids.reserve(taken.size());
  for (waiting& request : taken) {
    ids.push_back(request.id);
    if (request.accepted) request.accepted();
  }
  return ids;
}

void aggregator::accept_what_fits() {
  while (accepted_count_ < waiting_.size()) {
    waiting& next = waiting_[accepted_count_];
    // A request larger than the whole bound is let in alone, or it would wait for ever.
    const bool fits = accepted_bytes_ == 0 || accepted_bytes_ + next.size_bytes <= options_.queue_max_bytes;
    if (!fits) return;
    accepted_bytes_ += next.size_bytes;
    ++accepted_count_;
    if (auto accepted = std::exchange(next.accepted, nullptr)) accepted();
  }
}

}  // namespace braidmq::braid
