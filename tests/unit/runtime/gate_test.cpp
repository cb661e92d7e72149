#include "runtime/gate.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace braidmq::runtime {
namespace {

TEST(gate, closes_at_once_when_nobody_is_inside) {
  gate g;
  bool empty = false;
  g.close([&] { empty = true; });
  EXPECT_TRUE(empty);
  EXPECT_FALSE(g.enter().has_value());
}

TEST(gate, waits_for_the_last_pass_and_lets_nobody_in_meanwhile) {
  gate g;
  auto first = g.enter();
  auto second = g.enter();
  int empty = 0;
  g.close([&] { ++empty; });
  EXPECT_FALSE(g.enter().has_value());
  first.reset();
  EXPECT_EQ(empty, 0);
  EXPECT_EQ(g.inside(), 1U);
  auto moved = std::move(*second);
  second.reset();
  EXPECT_EQ(empty, 0);
  {
    auto last = std::move(moved);
  }
  EXPECT_EQ(empty, 1);
}

TEST(gate, a_pass_may_outlive_the_gate) {
  std::optional<gate::pass> pass;
  bool empty = false;
  {
    gate g;
    pass = g.enter();
    g.close([&] { empty = true; });
  }
  EXPECT_FALSE(empty);
  pass.reset();
  EXPECT_TRUE(empty);
}

TEST(gate, leaving_an_open_gate_calls_nothing) {
  gate g;
  g.enter();
  EXPECT_EQ(g.inside(), 0U);
  EXPECT_FALSE(g.closed());
  EXPECT_TRUE(g.enter().has_value());
}

}  // namespace
}  // namespace braidmq::runtime
