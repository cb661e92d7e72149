// The operator is killed after each of its writes, one run for each, and started again: the end is the same
// as that of a run that nobody disturbed (after Sieve: intermediate states).
#include "world.hpp"

namespace braidmq::reconcile::testing {
namespace {

struct scenario {
  const char* name;
  std::vector<std::function<void(world&)>> steps;  // a settled operator between them
};

const char* const orders = R"({"metadata": {"name": "orders"}, "spec": {"clusterRef": {"name": "prod"}, "partitions": 3,
                               "config": {"retention.ms": "1000"}, "deletionPolicy": "Delete"}})";

std::vector<scenario> scenarios() {
  const auto outside = [](json& object) {
    object["spec"]["listeners"] = json::parse(R"([{"name": "internal", "port": 9092, "type": "internal"},
                                                  {"name": "outside", "port": 9093, "type": "nodeport"}])");
  };
  return {
      {"a cluster with a topic comes up", {[=](world& w) {
         w.plain_cluster();
         w.change(api::cluster_type, "prod", outside);
         w.apply(api::topic_type, orders);
       }}},
      {"a topic is changed, vanishes, and is deleted",
       {[](world& w) {
          w.plain_cluster();
          w.apply(api::topic_type, orders);
        },
        [](world& w) {
          w.change(api::topic_type, "orders", [](json& object) {
            object["spec"]["partitions"] = 6;
            object["spec"]["config"] = {{"retention.ms", "2000"}};
          });
        },
        [](world& w) { w.broker.drop_topic("orders"); }, [](world& w) { w.erase(api::topic_type, "orders"); }}},
      {"a cluster is deleted with its data",
       {[](world& w) {
          w.plain_cluster();
          w.change(api::cluster_type, "prod", [](json& object) { object["spec"]["deletionPolicy"] = "Delete"; });
        },
        [](world& w) { w.erase(api::cluster_type, "prod"); }}},
      {"a cluster is deleted and comes back to its data",
       {[](world& w) { w.plain_cluster(); }, [](world& w) { w.erase(api::cluster_type, "prod"); },
        [](world& w) { w.plain_cluster(); }}},
      {"an image is corrected",
       {[](world& w) {
          w.bad_image = "braidmq:typo";
          w.plain_cluster();
          w.change(api::cluster_type, "prod", [](json& object) { object["spec"]["image"] = "braidmq:typo"; });
        },
        [](world& w) {
          w.change(api::cluster_type, "prod", [](json& object) { object["spec"]["image"] = "braidmq:good"; });
        }}},
  };
}

// Runs a scenario; whenever the operator is killed it is started again, once.
json run(const scenario& of, world& w) {
  const auto settle = [&w] {
    try {
      w.settle();
    } catch (const killed&) {
      w.restart_operator();
      w.settle();
    }
  };
  for (const auto& step : of.steps) {
    step(w);
    settle();
  }
  // What only the pause between two writes of a status has held back.
  w.clock.advance(std::chrono::seconds(10));
  settle();
  return w.end_state();
}

TEST(restart, at_each_write_leads_to_the_same_end) {
  for (const auto& one : scenarios()) {
    world undisturbed;
    const auto expected = run(one, undisturbed);
    const auto writes = undisturbed.own_writes();
    EXPECT_GT(writes, 8) << one.name;
    // Killed before a write, it leaves what it leaves when killed after the one before.
    for (int n = 1; n <= writes; ++n) {
      world w;
      w.switch_.kill_at = n;
      const auto end = run(one, w);
      ASSERT_EQ(end, expected) << one.name << ": killed after write " << n << ": " << json::diff(expected, end).dump(1);
    }
  }
}

}  // namespace
}  // namespace braidmq::reconcile::testing
