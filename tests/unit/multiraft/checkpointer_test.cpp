#include "multiraft/checkpointer.hpp"

#include <gtest/gtest.h>

#include "support/manual_executor.hpp"
#include "support/manual_timers.hpp"
#include "support/sim_file_system.hpp"

namespace braidmq::multiraft {
namespace {

const std::string state_path = "/data/state";

// A state that is nothing but its index; the test says when its bytes are written.
class played_source final : public checkpoint_source {
 public:
  class state final : public pinned_state {
   public:
    explicit state(played_source& from) : from_(from), index_(from.now) { ++from_.pins_held; }
    ~state() override { --from_.pins_held; }

    raft::index index() const override { return index_; }
    void when_written(unique_function<void(status)> done) override { from_.waiting = std::move(done); }
    std::vector<unique_function<status()>> take_syncs() override {
      std::vector<unique_function<status()>> all;
      for (int i = 0; i < from_.files; ++i) {
        all.push_back([&from = from_]() -> status {
          ++from.synced;
          if (from.synced == from.failing_sync) return fail(from.sync_error);
          return {};
        });
      }
      return all;
    }
    status write(checkpoint_writer& to) const override { return to.add(1, as_byte_view("row")); }

   private:
    played_source& from_;
    raft::index index_;
  };

  std::unique_ptr<pinned_state> pin() override {
    ++pins;
    return std::make_unique<state>(*this);
  }
  void checkpointed(raft::index index) override { durable.push_back(index.value()); }

  raft::index now;
  int pins = 0;
  int pins_held = 0;
  int files = 3;
  int synced = 0;
  int failing_sync = 0;
  io::errc sync_error = io::errc::device_error;
  unique_function<void(status)> waiting;
  std::vector<std::uint64_t> durable;
};

class CheckpointerTest : public ::testing::Test {
 protected:
  CheckpointerTest() {
    EXPECT_TRUE(fs.make_directories("/data"));
    options.path = state_path;
    options.group = raft::group_id(1);
    options.due_bytes = 1000;
    options.due_after = std::chrono::seconds(60);
  }

  checkpointer& start(std::uint64_t loaded = 0) {
    made.emplace(options, checkpoint_environment{fs, background, owner, timers, clock}, source,
                 [this](const error& why) { fatal.push_back(why.to_string()); });
    made->start(raft::index(loaded));
    return *made;
  }
  void apply(std::uint64_t index, std::size_t size_bytes) {
    source.now = raft::index(index);
    made->applied(source.now, size_bytes, raft::term(2));
    loop.run_until_idle();
  }
  void written() {
    std::exchange(source.waiting, nullptr)({});
    loop.run_until_idle();
  }
  void pass(io::duration by) {
    timers.advance(by);
    loop.run_until_idle();
  }

  sim::manual_loop loop;
  sim::manual_clock clock;
  sim::manual_executor owner{loop};
  sim::manual_executor background{loop};
  sim::manual_timers timers{clock, owner};
  sim::sim_file_system fs;
  checkpoint_options options;
  played_source source;
  std::vector<std::string> fatal;
  std::optional<checkpointer> made;
};

TEST_F(CheckpointerTest, IsDueByBytes) {
  start();
  apply(5, 999);
  EXPECT_EQ(source.pins, 0);
  apply(6, 1);
  ASSERT_EQ(source.pins, 1);
  EXPECT_TRUE(source.durable.empty()) << "not before the bytes are in their files";
  EXPECT_EQ(source.synced, 0);
  written();
  EXPECT_EQ(source.synced, 3);
  EXPECT_EQ(source.durable, std::vector<std::uint64_t>{6});
  EXPECT_EQ(source.pins_held, 0);
  const auto reader = checkpoint_reader::open(fs, state_path, options.group);
  ASSERT_TRUE(reader && reader->has_value());
  EXPECT_EQ((*reader)->id(), (checkpoint_id{options.group, raft::index(6), raft::term(2)}));
}

TEST_F(CheckpointerTest, IsDueByTimeAndOnlyWhenThereIsNews) {
  start(5);
  pass(std::chrono::seconds(200));
  EXPECT_EQ(source.pins, 0);
  apply(6, 1);
  EXPECT_EQ(source.pins, 0);
  pass(std::chrono::seconds(60));
  ASSERT_EQ(source.pins, 1);
  written();
  pass(std::chrono::seconds(600));
  EXPECT_EQ(source.pins, 1);
}

TEST_F(CheckpointerTest, OneAtATimeAndWhatCameMeanwhileCountsForTheNext) {
  start();
  apply(6, 1000);
  apply(7, 5000);
  EXPECT_EQ(source.pins, 1);
  written();
  EXPECT_EQ(source.durable, std::vector<std::uint64_t>{6});
  ASSERT_EQ(source.pins, 2);
  written();
  EXPECT_EQ(source.durable, (std::vector<std::uint64_t>{6, 7}));
  EXPECT_EQ(made->statistics().bytes_since, 0U);
}

TEST_F(CheckpointerTest, CanBeAskedFor) {
  start();
  made->request();
  loop.run_until_idle();
  EXPECT_EQ(source.pins, 0) << "nothing is new";
  apply(3, 1);
  ASSERT_EQ(source.pins, 1) << "the wish is kept";
  written();
  EXPECT_EQ(source.durable, std::vector<std::uint64_t>{3});
}

TEST_F(CheckpointerTest, WithoutSpaceTheOldOneStaysAndItIsTriedAgainLater) {
  start();
  apply(6, 1000);
  written();
  fs.fail_next(sim::operation::write, state_path + ".tmp", io::errc::no_space, 0, 2);
  apply(9, 1000);
  written();
  EXPECT_EQ(source.durable, std::vector<std::uint64_t>{6});
  EXPECT_EQ(made->statistics().failed, 1U);
  EXPECT_FALSE(*fs.exists(state_path + ".tmp")) << "what it took is given back";
  apply(10, 5000);
  EXPECT_EQ(source.pins, 2) << "not at once: there is no space";
  pass(std::chrono::seconds(5));
  ASSERT_EQ(source.pins, 3);
  written();
  EXPECT_EQ(made->statistics().failed, 2U);
  pass(std::chrono::seconds(5));
  written();
  EXPECT_EQ(source.durable, (std::vector<std::uint64_t>{6, 10}));
  EXPECT_TRUE(fatal.empty());
}

TEST_F(CheckpointerTest, ASyncThatFailsIsTheEnd) {
  source.failing_sync = 2;
  start();
  apply(6, 1000);
  written();
  EXPECT_EQ(fatal.size(), 1U);
  EXPECT_TRUE(source.durable.empty());
  EXPECT_FALSE(*fs.exists(state_path));
  apply(7, 10'000);
  EXPECT_EQ(source.pins, 1);
}

TEST_F(CheckpointerTest, AFewSyncsAreUnderWayAtOnceAndTheFileComesAfterAllOfThem) {
  options.syncs_at_once = 3;
  source.files = 8;
  start();
  apply(6, 1000);
  std::exchange(source.waiting, nullptr)({});
  std::size_t most = 0;
  while (source.synced < source.files) {
    most = std::max(most, background.queued());
    EXPECT_FALSE(*fs.exists(state_path + ".tmp"));
    ASSERT_TRUE(loop.run_one());
  }
  EXPECT_EQ(most, 3U);
  loop.run_until_idle();
  EXPECT_EQ(source.synced, 8);
  EXPECT_EQ(source.durable, std::vector<std::uint64_t>{6});
}

TEST_F(CheckpointerTest, WithoutAFileToSyncItIsWrittenAtOnce) {
  source.files = 0;
  start();
  apply(6, 1000);
  written();
  EXPECT_EQ(source.durable, std::vector<std::uint64_t>{6});
}

// Others that are under way then end without a word.
TEST_F(CheckpointerTest, WhicheverSyncFailsForWhateverReasonIsTheEnd) {
  options.syncs_at_once = 4;
  for (const io::errc why : {io::errc::device_error, io::errc::no_space}) {
    for (int failing = 1; failing <= 6; ++failing) {
      SCOPED_TRACE(failing);
      source = {};
      source.files = 6;
      source.failing_sync = failing;
      source.sync_error = why;
      fatal.clear();
      start();
      apply(6, 1000);
      written();
      EXPECT_EQ(fatal.size(), 1U);
      EXPECT_TRUE(source.durable.empty());
      EXPECT_EQ(source.pins_held, 0);
      EXPECT_FALSE(*fs.exists(state_path));
    }
  }
}

TEST_F(CheckpointerTest, StopsInEveryState) {
  for (int steps = 0; steps < 16; ++steps) {
    SCOPED_TRACE(steps);
    source = {};
    start();
    source.now = raft::index(6);
    made->applied(source.now, 1000, raft::term(2));
    if (steps > 0) std::exchange(source.waiting, nullptr)({});
    for (int i = 1; i < steps; ++i) static_cast<void>(loop.run_one());
    made.reset();
    const std::size_t told = source.durable.size();
    loop.run_until_idle();
    EXPECT_EQ(source.durable.size(), told);
    source.waiting = nullptr;
    EXPECT_EQ(source.pins_held, 0);
  }
}

}  // namespace
}  // namespace braidmq::multiraft
