#include "storage/memory_tail.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace braidmq::storage {

void memory_tail::append(batch added) {
  pending_bytes_ += added.data.size();
  batches_.push_back(std::move(added));
}

void memory_tail::mark_written(std::size_t count) {
  BRAID_CHECK(count <= pending_count());
  for (; count > 0; --count) {
    const std::size_t size = batches_[written_].data.size();
    ++written_;
    written_bytes_ += size;
    pending_bytes_ -= size;
    if (shared_) shared_->used_bytes += size + batch_cost;
  }
  const auto too_much = [this] { return shared_ && shared_->used_bytes > shared_->max_bytes; };
  while (written_ > 0 && (written_bytes_ > cache_bytes_ || too_much())) drop_front();
}

void memory_tail::drop_front() {
  const std::size_t size = batches_.front().data.size();
  written_bytes_ -= size;
  if (shared_) shared_->used_bytes -= size + batch_cost;
  batches_.pop_front();
  --written_;
}

memory_tail::~memory_tail() {
  while (written_ > 0) drop_front();
}

std::optional<model::offset> memory_tail::front() const {
  if (batches_.empty()) return std::nullopt;
  return batches_.front().base;
}

std::vector<bytes> memory_tail::collect(model::offset from, model::offset limit, std::size_t max_bytes) const {
  auto at = std::lower_bound(batches_.begin(), batches_.end(), from,
                             [](const batch& each, model::offset offset) { return each.last < offset; });
  std::vector<bytes> found;
  std::size_t total = 0;
  for (; at != batches_.end() && at->base < limit; ++at) {
    if (!found.empty() && at->data.size() > max_bytes - std::min(max_bytes, total)) break;
    total += at->data.size();
    found.push_back(at->data);
  }
  return found;
}

}  // namespace braidmq::storage
