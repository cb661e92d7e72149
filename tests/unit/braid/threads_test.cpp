// Checkpoints with real threads and real files: rows that a checkpoint has pinned are read by one thread while another
// goes on applying. What the sanitizers are to see.
#include <filesystem>
#include <future>

#include <gtest/gtest.h>
#include <unistd.h>

#include "braid/replica.hpp"
#include "io/random.hpp"
#include "io/thread_executor.hpp"
#include "runtime/shard.hpp"
#include "support/batches.hpp"

namespace braidmq::braid::threads {
namespace {

constexpr int topic_count = 3;
constexpr std::int32_t partition_count = 4;  // of each
// More than fit into a page of rows, in each partition.
constexpr std::int64_t producer_count = 1000;
constexpr int request_count = 1500;
constexpr int pipelined = 16;

model::topic_partition_id target_of(std::int64_t number) {
  const auto topic = static_cast<std::uint8_t>(1 + number % topic_count);
  return sim::partition_of(topic, static_cast<std::int32_t>(number / topic_count % partition_count));
}

// One life of a replica, put together as the process does.
class real_life {
 public:
  template <class Work>
  auto on_shard(Work work) {
    std::promise<decltype(work())> answer;
    auto value = answer.get_future();
    shard_.post([&] { answer.set_value(work()); });
    return value.get();
  }

  explicit real_life(const std::string& folder) {
    wal::options wal_options;
    wal_options.folder = folder + "/wal";
    wal_options.file_bytes = 1U << 20U;
    io::file_system& fs = io::posix_file_system();
    auto opened = wal::log::open({fs, wal_disk_, background_, shard_, shard_, io::system_random(), io::system_clock()},
                                 wal_options);
    EXPECT_TRUE(opened) << opened.error().to_string();
    wal_ = std::move(*opened);
    replica_options options;
    options.group.id = raft::group_id(1);
    options.group.raft.self = {0, uuid{}};
    options.group.raft.voters = {options.group.raft.self};
    options.data_folder = folder + "/data";
    options.checkpoint.path = folder + "/checkpoints/braid";
    options.checkpoint.due_bytes = 20'000;
    options.log.segments.bytes = 20'000;
    options.producer_expiration = std::chrono::hours(1);
    auto made = replica::create(options, {fs, shard_, segments_, background_, shard_, io::system_clock(), *wal_},
                                [this](const error& why) { fatal_ = why.to_string(); });
    EXPECT_TRUE(made) << made.error().to_string();
    replica_ = std::move(*made);
    shard_.start();
    std::promise<void> serves;
    shard_.post([&] {
      replica_->on_serving([&serves](bool does) {
        if (does) serves.set_value();
      });
      replica_->start();
    });
    serves.get_future().wait();
    on_shard([this] {
      replica_->on_serving([](bool) {});
      return 0;
    });
  }

  ~real_life() {
    on_shard([this] {
      replica_->stop();
      return 0;
    });
    wal_disk_.stop();
    segments_.stop();
    background_.stop();
    shard_.stop();
    EXPECT_EQ(fatal_, "");
  }

  // Runs the whole load, and goes on until so many checkpoints were taken.
  void load(std::uint64_t checkpoints) {
    std::promise<void> done;
    shard_.post([&] {
      checkpoints_ = checkpoints;
      done_ = &done;
      for (int i = 0; i < pipelined; ++i) send();
    });
    done.get_future().wait();
  }

  std::map<model::topic_partition_id, hash128> hashes() {
    return on_shard([this] {
      std::map<model::topic_partition_id, hash128> all;
      for (const auto& [id, one] : replica_->state().partitions()) all[id] = one->hash();
      return all;
    });
  }
  replica_stats statistics() {
    return on_shard([this] { return replica_->statistics(); });
  }
  int wrong() const { return wrong_; }

 private:
  void send() {
    const std::int64_t number = sent_++;
    if (number % 50 == 0) change_topics();
    produce_unit unit;
    for (std::int64_t i = 0; i < 3; ++i) {
      const std::int64_t producer = (number + i * 7) % producer_count;
      // Each producer begins anew with every round of the load.
      const auto epoch = static_cast<std::int16_t>(number / producer_count);
      unit.slices.push_back(
          {target_of(producer + i), sim::make_batch({"value"}, sim::idempotent(producer + i * 10'000, epoch, 0))});
    }
    ++under_way_;
    replica_->produce(
        {std::move(unit), std::chrono::seconds(60)}, [] {},
        [this, number](const result<unit_outcome>& outcome) { answered(number, outcome); });
  }

  void answered(std::int64_t number, const result<unit_outcome>& outcome) {
    --under_way_;
    const bool is_early = number < 60;  // before the topics are there
    for (std::size_t i = 0; outcome && i < outcome->slices.size(); ++i) {
      if (outcome->slices[i].error && !is_early) ++wrong_;
    }
    if (!outcome) ++wrong_;
    const bool enough = sent_ >= request_count && replica_->statistics().checkpoints.taken >= checkpoints_;
    if (!enough) return send();
    if (under_way_ == 0) done_->set_value();
  }

  void change_topics() {
    topic_news news;
    news.metadata_index = ++metadata_index_;
    for (std::uint8_t topic = 1; topic <= topic_count; ++topic) {
      news.topics.push_back({sim::partition_of(topic, 0).topic,
                             partition_count,
                             {{"retention.ms", std::to_string(metadata_index_)}},
                             metadata_index_});
    }
    replica_->follow(std::move(news));
  }

  runtime::shard shard_{0};
  io::thread_executor wal_disk_{"wal"};
  io::thread_executor segments_{"segments"};
  io::thread_executor background_{"background", 4};
  std::unique_ptr<wal::log> wal_;
  std::unique_ptr<replica> replica_;
  std::string fatal_;

  std::int64_t sent_ = 0;
  int under_way_ = 0;
  int wrong_ = 0;
  std::uint64_t checkpoints_ = 0;
  std::uint64_t metadata_index_ = 0;
  std::promise<void>* done_ = nullptr;
};

TEST(Threads, AppliesOnWhileACheckpointIsWritten) {
  std::string folder = (std::filesystem::temp_directory_path() / "braid-checkpoints-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  for (const char* name : {"/wal", "/data", "/checkpoints"}) std::filesystem::create_directory(folder + name);
  std::map<model::topic_partition_id, hash128> before;
  {
    real_life first(folder);
    first.load(5);
    before = first.hashes();
    EXPECT_EQ(first.wrong(), 0);
    EXPECT_GE(first.statistics().checkpoints.taken, 5U);
    EXPECT_GT(first.statistics().producers, static_cast<std::size_t>(producer_count));
  }
  EXPECT_EQ(before.size(), static_cast<std::size_t>(topic_count * partition_count));
  {
    real_life second(folder);
    EXPECT_LT(second.statistics().entries_applied, second.statistics().applied_index.value())
        << "it began with a checkpoint";
    EXPECT_EQ(second.hashes(), before);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace braidmq::braid::threads
