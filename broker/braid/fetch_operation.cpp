#include "braid/fetch_operation.hpp"

#include <algorithm>
#include <utility>

#include "model/record_batch.hpp"

namespace braidmq::braid {

std::error_code check_epoch(const partition::partition* target, model::leader_epoch asked, raft::term term) {
  if (target == nullptr) return errc::unknown_partition;
  if (asked == model::no_epoch) return {};
  const model::leader_epoch ours = target->epoch_of_term(term.value());
  if (asked < ours) return errc::fenced_leader_epoch;
  if (asked > ours) return errc::unknown_leader_epoch;
  return {};
}

namespace {

// Below this a budget counts as used up. A larger first batch goes beyond it, by one batch for each fetch that reads.
constexpr std::size_t first_batch_bytes = std::size_t{1} << 20U;

// Whether visible batches were left out: waiting would not bring this partition more.
bool reaches_limit(const fetched_slice& answer) {
  if (answer.batches.empty()) return true;
  const auto last = model::parse_batch_header(answer.batches.back());
  return !last || last->base_offset + last->last_offset_delta + 1 < answer.visible_end;
}

}  // namespace

void fetch_operation::run(machine& state, raft::term term, bool leads, const fetch_request& request,
                          unique_function<void(outcome)> done) {
  const std::shared_ptr<fetch_operation> operation(new fetch_operation(state, leads, request, std::move(done)));
  operation->plan(term, request);
  operation->advance();
}

void fetch_operation::plan(raft::term term, const fetch_request& request) {
  plan_.reserve(request.slices.size());
  outcome_.answer.slices.reserve(request.slices.size());
  for (const fetch_slice& slice : request.slices) plan_slice(term, slice);
  if (request.memory == nullptr ||
      std::ranges::none_of(plan_, [](const planned& one) { return one.target.has_value(); }))
    return;
  // The first batch may be larger than the client's limit, see below.
  outcome_.answer.memory = request.memory->take_up_to(std::max(request.max_bytes, first_batch_bytes));
  const std::size_t granted = outcome_.answer.memory.size_bytes();
  left_bytes_ = std::min(left_bytes_, granted);
  if (granted < first_batch_bytes) {
    outcome_.short_of_memory = true;
    for (planned& one : plan_) one.target.reset();
  }
}

void fetch_operation::plan_slice(raft::term term, const fetch_slice& slice) {
  planned& step = plan_.emplace_back();
  fetched_slice& answer = outcome_.answer.slices.emplace_back();
  const partition::partition* target = state_.find(slice.target);
  answer.error = check_epoch(target, slice.current_epoch, term);
  if (!answer.error) {
    answer.visible_end = target->visible_end();
    answer.log_start = target->start_offset();
    // Before epochs are compared: who is behind would take for another history what it has not got yet.
    if (!leads_ && slice.from > answer.visible_end) answer.error = errc::offset_not_available;
  }
  if (!answer.error) {
    if (slice.last_fetched_epoch != model::no_epoch) {
      const auto end = target->epochs().end_of(slice.last_fetched_epoch, target->end_offset());
      if (!end || end->epoch < slice.last_fetched_epoch || end->end < slice.from) {
        answer.diverging = end ? *end : partition::epoch_end{model::no_epoch, model::offset(-1)};
        outcome_.answer_now = true;
        return;
      }
    }
    if (slice.from < answer.log_start || slice.from > answer.visible_end) answer.error = errc::offset_out_of_range;
  }
  if (answer.error) {
    outcome_.answer_now = true;
    return;
  }
  if (slice.from == answer.visible_end) return;
  step.target = slice.target;
  step.read = {slice.from, answer.visible_end, slice.max_bytes, false};
}

void fetch_operation::advance() {
  while (next_ < plan_.size()) {
    if (!plan_[next_].target) {
      ++next_;
    } else if (!start_read()) {
      return;  // take() goes on
    }
  }
  if (outcome_.answer.memory) outcome_.answer.memory.resize(outcome_.total_bytes);
  done_(std::move(outcome_));
}

bool fetch_operation::start_read() {
  planned& step = plan_[next_];
  partition::partition* const target = state_.find(*step.target);
  if (target == nullptr) {
    outcome_.answer.slices[next_] = {};
    outcome_.answer.slices[next_].error = errc::unknown_partition;
    outcome_.answer_now = true;
    ++next_;
    return true;
  }
  // The first batch of the first partition that has data comes whatever its size, or a consumer whose limit is smaller
  // than a batch would never move (KIP-74).
  step.read.at_least_one_batch = outcome_.total_bytes == 0;
  step.read.max_bytes = std::min(step.read.max_bytes, left_bytes_);
  in_call_ = true;
  answered_in_call_ = false;
  target->log().read(step.read, [self = shared_from_this()](result<std::vector<bytes>> batches) {
    self->take(std::move(batches));
    if (self->in_call_) {
      self->answered_in_call_ = true;
    } else {
      self->advance();
    }
  });
  in_call_ = false;
  return answered_in_call_;
}

void fetch_operation::take(result<std::vector<bytes>> batches) {
  fetched_slice& answer = outcome_.answer.slices[next_];
  ++next_;
  if (!batches) {
    answer.error = batches.error().code == make_error_code(storage::errc::offset_out_of_range)
                       ? make_error_code(errc::offset_out_of_range)
                       : make_error_code(errc::storage_failed);
    outcome_.answer_now = true;
    return;
  }
  answer.batches = std::move(*batches);
  for (const bytes& batch : answer.batches) answer.size_bytes += batch.size();
  outcome_.total_bytes += answer.size_bytes;
  if (reaches_limit(answer)) outcome_.answer_now = true;
  left_bytes_ -= std::min(left_bytes_, answer.size_bytes);
}

}  // namespace braidmq::braid
