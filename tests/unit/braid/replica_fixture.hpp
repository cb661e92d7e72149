// A replica on a simulated disk, over several lives.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "braid/replica.hpp"
#include "model/record_batch.hpp"
#include "support/batches.hpp"
#include "support/manual_executor.hpp"
#include "support/manual_timers.hpp"
#include "support/sim_file_system.hpp"

namespace braidmq::braid {

using sim::idempotent;
using sim::make_batch;
using sim::partition_of;

class fixed_random final : public io::random_source {
 public:
  void fill(mutable_byte_view target) override {
    for (std::byte& byte : target) byte = static_cast<std::byte>(rng_.below(256));
  }

 private:
  sim::rng rng_{7};
};

// One life of a replica on a disk that outlives it.
class life {
 public:
  life(sim::sim_file_system& fs, std::uint64_t seed, replica_options options) : loop_(seed) {
    EXPECT_TRUE(fs.make_directories("/wal"));
    EXPECT_TRUE(fs.make_directories("/data"));
    EXPECT_TRUE(fs.make_directories("/checkpoints"));
    wal::options wal_options;
    wal_options.folder = "/wal";
    wal_options.file_bytes = 64 << 10;
    auto opened = wal::log::open({fs, wal_disk, segment_disk, shard, timers, random_, clock}, wal_options);
    EXPECT_TRUE(opened) << opened.error().to_string();
    wal_ = std::move(*opened);
    options.group.id = raft::group_id(1);
    options.group.raft.self = {0, uuid{}};
    options.group.raft.voters = {options.group.raft.self};
    options.data_folder = "/data";
    options.checkpoint.path = "/checkpoints/braid";
    auto made = replica::create(std::move(options), {fs, shard, segment_disk, background, timers, clock, *wal_},
                                [this](error why) { fatal.push_back(why.to_string()); });
    EXPECT_TRUE(made) << made.error().to_string();
    braid = std::move(*made);
    braid->start();
  }
  ~life() {
    braid.reset();
    wal_.reset();
  }

  void run() { loop_.run_until_idle(); }
  bool run_one() { return loop_.run_one(); }
  bool run_one_of(sim::manual_executor& only) { return loop_.run_one(only); }
  // The disk stands still: only the shard's tasks run.
  void run_timer_first() {
    while (loop_.run_one(shard)) {
    }
  }
  void pass_time(io::duration by) {
    timers.advance(by);
    run();
  }

  // Partition 0 up to this one.
  void create(const model::topic_partition_id& id, std::map<std::string, std::string> configs = {}) {
    topic_news news;
    news.metadata_index = ++metadata_index;
    news.topics.push_back({id.topic, id.partition.value() + 1, std::move(configs), metadata_index});
    braid->follow(std::move(news));
    run();
  }
  void remove(const model::topic_partition_id& id) {
    topic_news news;
    news.metadata_index = ++metadata_index;
    news.deletions.push_back({id.topic, metadata_index});
    braid->follow(std::move(news));
  }
  result<unit_outcome> produce(std::vector<append_slice> slices) {
    std::optional<result<unit_outcome>> outcome;
    braid->produce(
        {{std::move(slices)}, std::chrono::seconds(5)}, [] {},
        [&](result<unit_outcome> said) { outcome = std::move(said); });
    run();
    EXPECT_TRUE(outcome.has_value());
    return std::move(*outcome);
  }
  fetch_request fetch_of(const model::topic_partition_id& id, std::int64_t from) {
    fetch_request request;
    fetch_slice slice;
    slice.target = id;
    slice.from = model::offset(from);
    slice.max_bytes = 1 << 20;
    request.slices.push_back(slice);
    request.max_bytes = 1 << 20;
    return request;
  }
  fetch_answer fetch(fetch_request request) {
    std::optional<result<fetch_answer>> answer;
    braid->fetch(std::move(request), [&](result<fetch_answer> said) { answer = std::move(said); });
    run();
    EXPECT_TRUE(answer.has_value() && answer->has_value());
    return std::move(**answer);
  }
  // Every batch of a partition, as base offset and size.
  std::vector<bytes> read_all(const model::topic_partition_id& id) { return fetch(fetch_of(id, 0)).slices[0].batches; }

 private:
  sim::manual_loop loop_;
  fixed_random random_;

 public:
  std::uint64_t metadata_index = 0;
  sim::manual_clock clock;
  sim::manual_executor shard{loop_};
  sim::manual_executor wal_disk{loop_};
  sim::manual_executor segment_disk{loop_};
  sim::manual_executor background{loop_};
  sim::manual_timers timers{clock, shard};
  std::vector<std::string> fatal;

 private:
  std::unique_ptr<wal::log> wal_;

 public:
  std::unique_ptr<replica> braid;
};

class ReplicaTest : public ::testing::Test {
 protected:
  life& start(std::uint64_t seed = 1) {
    life_.reset();
    fs_.kill_process();
    life_ = std::make_unique<life>(fs_, seed, options_);
    life_->run();
    return *life_;
  }

  sim::sim_file_system fs_{1};
  replica_options options_;
  std::unique_ptr<life> life_;
};

inline const auto orders = partition_of(1, 0);
inline const auto inventory = partition_of(2, 0);

}  // namespace braidmq::braid
