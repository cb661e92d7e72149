// The log against a model that is a vector of batches: random appends, reads, searches, drains and reopenings, with
// tasks run in an order that a seed chooses.
#include "log_fixture.hpp"

namespace braidmq::storage {
namespace {

class random_run {
 public:
  explicit random_run(std::uint64_t seed) : chance_(seed), fs_(seed), loop_seed_(seed) {
    options_.segments.bytes = 200 + chance_.below(4000);
    options_.index_interval_bytes = static_cast<std::uint32_t>(chance_.below(1000));
    options_.cache_bytes = chance_.chance(0.3) ? 0 : chance_.below(3000);
    options_.write_bytes = 1 + chance_.below(2000);
    options_.writes_when_told = chance_.chance(0.5);
    harness_.emplace(fs_, loop_seed_);
    EXPECT_TRUE(harness_->open(options_));
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
    harness_->log->write_pending();
    harness_->loop.run_until_idle();
    EXPECT_EQ(reads_answered_, reads_asked_);
    EXPECT_EQ(harness_->log->pending_bytes(), 0U);
    EXPECT_TRUE(harness_->failures.empty());
    std::uint64_t size = 0;
    for (const stored_batch& batch : model_) size += batch.data.size();
    EXPECT_EQ(harness_->log->size_bytes(), size);
  }

 private:
  std::int64_t start() const { return model_.empty() ? 0 : model_.front().base.value(); }
  std::int64_t end() const { return model_.empty() ? 0 : model_.back().last.value() + 1; }

  void step() {
    const std::uint64_t what = chance_.below(100);
    if (what < 35) {
      append();
    } else if (what < 60) {
      read();
    } else if (what < 65) {
      harness_->log->write_pending();
    } else if (what < 97) {
      for (std::uint64_t i = chance_.below(6); i > 0; --i) harness_->loop.run_one();
    } else if (what < 98) {
      EXPECT_TRUE(harness_->drain());
    } else {
      reopen();
    }
  }

  void append() {
    if (chance_.chance(0.05)) ++epoch_;
    model_.push_back(make_batch(end(), static_cast<int>(1 + chance_.below(5)), chance_.below(400), epoch_));
    harness_->log->append(model_.back());
  }

  void read() {
    read_request request;
    request.from = model::offset(chance_.between(start(), end()));
    request.limit = model::offset(chance_.chance(0.5) ? end() + 5 : chance_.between(start(), end()));
    request.max_bytes = chance_.below(3000);
    request.at_least_one_batch = chance_.chance(0.7);
    ++reads_asked_;
    harness_->log->read(request, [this, expected = expected_read(request)](result<std::vector<bytes>> got) {
      ++reads_answered_;
      ASSERT_TRUE(got) << got.error().to_string();
      EXPECT_EQ(*got, expected);
    });
  }

  std::vector<bytes> expected_read(const read_request& request) const {
    std::vector<bytes> expected;
    std::size_t total = 0;
    if (request.from >= request.limit) return expected;
    for (const stored_batch& batch : model_) {
      if (batch.last < request.from || batch.base >= request.limit) continue;
      const bool forced = expected.empty() && request.at_least_one_batch;
      if (!forced && total + batch.data.size() > request.max_bytes) break;
      total += batch.data.size();
      expected.push_back(batch.data);
    }
    return expected;
  }

  // As a start after a checkpoint: the log is cut to a batch that had been written, and goes on from there.
  void reopen() {
    EXPECT_TRUE(harness_->drain());
    harness_->loop.run_until_idle();
    harness_.emplace(fs_, ++loop_seed_);
    model_.resize(chance_.below(model_.size() + 1));
    const auto opened = harness_->open(options_, end());
    ASSERT_TRUE(opened) << opened.error().to_string();
    EXPECT_EQ(harness_->log->end_offset().value(), end());
  }

  sim::rng chance_;
  sim::sim_file_system fs_;
  std::uint64_t loop_seed_;
  log_options options_;
  std::optional<log_harness> harness_;
  std::vector<stored_batch> model_;
  std::int32_t epoch_ = 1;
  int reads_asked_ = 0;
  int reads_answered_ = 0;
};

TEST(RandomOperations, EqualTheModel) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(seed);
    random_run(seed).run(300);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace braidmq::storage
