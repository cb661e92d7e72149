// A partition log without files, for tests of what stands above storage. Answers inside the call.
#pragma once

#include <map>
#include <utility>

#include "storage/partition_log.hpp"

namespace braidmq::sim {

class memory_partition_log final : public storage::partition_log {
 public:
  void append(storage::stored_batch batch) override {
    BRAID_CHECK(batch.base == end_, "append at {}, the end is {}", batch.base, end_);
    end_ = batch.last + 1;
    size_bytes_ += batch.data.size();
    batches_.push_back(std::move(batch));
  }

  void write_pending() override {}
  void set_segment_bounds(storage::segment_bounds) override {}
  void trim(model::offset start) override { start_ = start; }
  std::uint64_t trimmed_segments() const override { return 0; }
  void remove_trimmed(std::uint64_t) override {}
  model::offset retained_start(std::optional<std::int64_t>, std::optional<std::uint64_t>) const override {
    return start_;
  }
  model::offset start_offset() const override { return start_; }
  model::offset end_offset() const override { return end_; }
  std::uint64_t size_bytes() const override { return size_bytes_; }
  std::size_t pending_bytes() const override { return 0; }

  void read(storage::read_request request, unique_function<void(result<std::vector<bytes>>)> done) override {
    std::vector<bytes> found;
    std::size_t size = 0;
    for (const storage::stored_batch& batch : batches_) {
      if (batch.last < request.from) continue;
      if (batch.base >= request.limit) break;
      const bool forced = found.empty() && request.at_least_one_batch;
      if (!forced && size + batch.data.size() > request.max_bytes) break;
      size += batch.data.size();
      found.push_back(batch.data);
    }
    done(std::move(found));
  }

  void find_timestamp(std::int64_t timestamp_ms, model::offset limit,
                      unique_function<void(result<std::optional<storage::timestamp_match>>)> done) override {
    for (const storage::stored_batch& batch : batches_) {
      if (batch.base < limit && batch.max_timestamp_ms >= timestamp_ms) {
        return done(std::optional(storage::timestamp_match{batch.max_timestamp_ms, batch.base}));
      }
    }
    done(std::optional<storage::timestamp_match>());
  }

  void find_max_timestamp(model::offset limit,
                          unique_function<void(result<std::optional<storage::timestamp_match>>)> done) override {
    std::optional<storage::timestamp_match> best;
    for (const storage::stored_batch& batch : batches_) {
      if (batch.base < limit && (!best || batch.max_timestamp_ms > best->timestamp_ms)) {
        best = storage::timestamp_match{batch.max_timestamp_ms, batch.base};
      }
    }
    done(best);
  }

  storage::log_pin pin() override { return {{model::offset(0), end_, {}, {}}, {}}; }
  void drain(unique_function<void(status)> done) override { done({}); }
  void cut_leftovers() override {}
  void remove(unique_function<void(status)> done) override { done({}); }

  const std::vector<storage::stored_batch>& batches() const { return batches_; }

 private:
  std::vector<storage::stored_batch> batches_;
  model::offset start_;
  model::offset end_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace braidmq::sim
