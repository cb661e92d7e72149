// The newest batches of a log, in memory: those that are not yet in the files, which always stay, and before them the
// last written ones, up to a bound in bytes, so that readers at the tail do not touch the disk.
// Owner: the log, on its executor.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "model/ids.hpp"
#include "storage/cache_budget.hpp"

namespace braidmq::storage {

class memory_tail {
 public:
  struct batch {
    bytes data;
    model::offset base;
    model::offset last;
  };

  // `shared`: null for no bound but `cache_bytes`.
  explicit memory_tail(std::size_t cache_bytes, std::shared_ptr<cache_budget> shared = nullptr)
      : cache_bytes_(cache_bytes), shared_(std::move(shared)) {}
  ~memory_tail();
  memory_tail(const memory_tail&) = delete;
  memory_tail& operator=(const memory_tail&) = delete;

  void append(batch added);

  std::size_t pending_bytes() const { return pending_bytes_; }
  std::size_t pending_count() const { return batches_.size() - written_; }
  const batch& pending(std::size_t index) const { return batches_[written_ + index]; }

  // The first `count` pending batches are in the files now.
  void mark_written(std::size_t count);

  // Offset of the first batch that is here; none when no batch is.
  std::optional<model::offset> front() const;

  // Batches from the one that holds `from` (or from the first one) to the last one that begins below `limit`; after
  // the first, only while all together stay within `max_bytes`.
  std::vector<bytes> collect(model::offset from, model::offset limit, std::size_t max_bytes) const;

 private:
  static constexpr std::size_t batch_cost = 160;  // slot, control block and buffer header

  void drop_front();

  std::size_t cache_bytes_;
  std::shared_ptr<cache_budget> shared_;
  std::deque<batch> batches_;
  std::size_t written_ = 0;  // how many at the front are written
  std::size_t written_bytes_ = 0;
  std::size_t pending_bytes_ = 0;
};

}  // namespace braidmq::storage
