#include "support/manual_executor.hpp"

#include <set>

#include <gtest/gtest.h>

namespace braidmq::sim {
namespace {

TEST(ManualExecutor, WithoutASeedRunsInTheOrderOfPosting) {
  manual_loop loop;
  manual_executor a(loop);
  manual_executor b(loop);
  std::string trace;
  a.post([&] {
    trace += "1";
    b.post([&] { trace += "4"; });
  });
  b.post([&] { trace += "2"; });
  a.post([&] { trace += "3"; });
  EXPECT_EQ(trace, "") << "never inside post";
  EXPECT_EQ(loop.run_until_idle(), 4U);
  EXPECT_EQ(trace, "1234");
  EXPECT_FALSE(loop.run_one());
}

TEST(ManualExecutor, ASeedMixesExecutorsButKeepsEachSerialOneInOrder) {
  std::set<std::string> traces;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    manual_loop loop(seed);
    manual_executor serial(loop);
    manual_executor pool(loop, order::pool);
    std::string trace;
    for (const char c : {'1', '2'}) serial.post([&trace, c] { trace += c; });
    for (const char c : {'a', 'b'}) pool.post([&trace, c] { trace += c; });
    loop.run_until_idle();
    EXPECT_LT(trace.find('1'), trace.find('2'));
    traces.insert(trace);
  }
  EXPECT_EQ(traces.size(), 12U) << "every order that keeps 1 before 2";
}

TEST(ManualExecutor, AStoppedExecutorDropsItsTasksAndWhatTheyHold) {
  manual_loop loop;
  auto held = std::make_shared<int>(1);
  {
    manual_executor executor(loop);
    executor.post([held] {});
    executor.stop();
    EXPECT_EQ(held.use_count(), 1);
    executor.post([held] { FAIL(); });
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(loop.run_until_idle(), 0U);
  }
  EXPECT_FALSE(loop.run_one()) << "the loop forgets an executor that is gone";
}

}  // namespace
}  // namespace braidmq::sim
