// The parts that need no world: memory of writes, states of brokers, plans.
#include <nlohmann/json.hpp>

#include "reconcile/broker_states.hpp"
#include "reconcile/pending.hpp"
#include "reconcile/pod_problem.hpp"
#include "reconcile/topic_plan.hpp"
#include "reconcile/write_memory.hpp"
#include "resources/stateful_set.hpp"
#include "support/manual_timers.hpp"

namespace braidmq::reconcile {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(broker_states, three_failures_or_a_minute) {
  sim::manual_clock clock;
  broker_states states;
  const object_key prod{"shop", "prod"};
  EXPECT_FALSE(states.find(prod)->reachable(clock.now()));
  states.answered(prod, "u", {});
  EXPECT_TRUE(states.find(prod)->reachable(clock.now()));
  states.failed(prod, "a", clock.now());
  clock.advance(seconds(59));
  states.failed(prod, "b", clock.now());
  EXPECT_TRUE(states.find(prod)->reachable(clock.now()));
  clock.advance(seconds(1));
  EXPECT_FALSE(states.find(prod)->reachable(clock.now()));
  states.answered(prod, "u", {});
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(states.find(prod)->reachable(clock.now())) << i;
    states.failed(prod, "c", clock.now());
  }
  EXPECT_FALSE(states.find(prod)->reachable(clock.now()));
  EXPECT_EQ(states.find(prod)->last_error, "c");
  states.forget(prod);
  EXPECT_FALSE(states.find(prod)->answered);
}

TEST(write_memory, waits_for_the_cache_and_not_for_ever) {
  sim::manual_clock clock;
  write_memory memory;
  const object_key key{"shop", "a"};
  memory.wrote(api::topic_type, key, "1", "2", clock.now());
  EXPECT_TRUE(memory.is_stale(api::topic_type, key, "1", clock.now()));
  EXPECT_FALSE(memory.is_stale(api::pool_type, key, "1", clock.now()));
  EXPECT_FALSE(memory.is_stale(api::topic_type, key, "2", clock.now()));
  EXPECT_FALSE(memory.is_stale(api::topic_type, key, "1", clock.now()));  // forgotten once seen
  memory.wrote(api::topic_type, key, "2", "3", clock.now());
  clock.advance(seconds(5));
  EXPECT_FALSE(memory.is_stale(api::topic_type, key, "2", clock.now()));
  memory.wrote(api::topic_type, key, "3", "3", clock.now());  // changed nothing: no event will come
  EXPECT_FALSE(memory.is_stale(api::topic_type, key, "3", clock.now()));
}

TEST(write_memory, paces_statuses) {
  sim::manual_clock clock;
  write_memory memory;
  const object_key key{"shop", "a"};
  EXPECT_EQ(memory.status_pause(api::topic_type, key, clock.now()), io::duration{});
  memory.wrote_status(api::topic_type, key, clock.now());
  clock.advance(seconds(2));
  EXPECT_EQ(memory.status_pause(api::topic_type, key, clock.now()), io::duration(seconds(3)));
  clock.advance(seconds(3));
  EXPECT_EQ(memory.status_pause(api::topic_type, key, clock.now()), io::duration{});
}

api::topic topic_of(const std::string& spec) {
  return api::read_topic({{"metadata", {{"name", "orders"}, {"namespace", "shop"}}}, {"spec", json::parse(spec)}});
}

TEST(topic_plan, of_every_difference) {
  const auto wanted = topic_of(R"({"partitions": 6, "replicationFactor": 1, "config": {"a": "1", "b": "2"}})");
  const auto made = plan_topic(wanted, nullptr);
  EXPECT_EQ(made.next, topic_plan::step::create);
  EXPECT_EQ(made.creation.partitions, 6);
  EXPECT_EQ(made.creation.replication_factor, 1);
  EXPECT_EQ(made.creation.configs.size(), 2U);

  admin_client::topic_info there{
      .name = "orders", .id = "x", .partitions = 6, .replication_factor = 1, .configs = {{"a", "1"}, {"b", "2"}}};
  EXPECT_EQ(plan_topic(wanted, &there).next, topic_plan::step::nothing);
  there.partitions = 3;
  there.configs = {{"a", "0"}, {"c", "3"}};
  const auto plan = plan_topic(wanted, &there);
  EXPECT_EQ(plan.next, topic_plan::step::change);
  EXPECT_EQ(plan.change.id, "x");
  EXPECT_EQ(plan.change.partitions, 6);
  EXPECT_EQ(plan.change.configs,
            (std::map<std::string, std::optional<std::string>>{{"a", "1"}, {"b", "2"}, {"c", std::nullopt}}));
  there.partitions = 9;
  there.replication_factor = 3;
  const auto stuck = plan_topic(topic_of(R"({"partitions": 6, "replicationFactor": 1})"), &there);
  ASSERT_TRUE(stuck.impossible);
  EXPECT_EQ(stuck.impossible->reason, "ReplicationFactorCannotChange");
  EXPECT_FALSE(stuck.change.partitions.has_value());
}

TEST(topic_plan, what_is_left_out_is_the_brokers) {
  const auto plan = plan_topic(topic_of("{}"), nullptr);
  EXPECT_EQ(plan.creation.partitions, 1);
  EXPECT_EQ(plan.creation.replication_factor, -1);
}

TEST(pod_problem, a_long_log_is_cut_at_its_beginning) {
  api::pod pod;
  pod.key.name = "p-0";
  pod.scheduled = true;
  pod.broker.waiting_reason = "CrashLoopBackOff";
  pod.broker.last_message = std::string(5000, 'x') + "\nthe last line says why\n";
  const auto found = pod_problem(pod, 0);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->message, HasSubstr("...the last line says why"));
  EXPECT_LT(found->message.size(), 800U);
}

TEST(pod_problem, a_pod_that_starts_has_none) {
  api::pod pod;
  EXPECT_FALSE(pod_problem(pod, 0));  // the scheduler has not looked at it
  pod.scheduled = true;
  pod.broker.waiting_reason = "ContainerCreating";
  EXPECT_FALSE(pod_problem(pod, 0));
  pod.broker = {.running = true};
  EXPECT_FALSE(pod_problem(pod, 0));  // recovering its log, for as long as it takes
  pod.broker.restarts = 5;
  EXPECT_FALSE(pod_problem(pod, 0));
}

TEST(pod_problem, unschedulable_for_a_moment_is_none) {
  auto pod = std::make_shared<api::pod>();
  pod->unscheduled_reason = "Unschedulable";
  pod->unscheduled_s = 1'000;
  EXPECT_FALSE(pod_problem(*pod, 1'000));
  EXPECT_FALSE(pod_problem(*pod, 1'009));
  EXPECT_FALSE(is_broken(*pod, 1'009));
  EXPECT_TRUE(pod_problem(*pod, 1'010));
  EXPECT_TRUE(is_broken(*pod, 1'010));
  EXPECT_FALSE(pod_problem(*pod, 998)) << "a clock that is a little behind";
  EXPECT_TRUE(pod_problem(*pod, 400)) << "or far";
  EXPECT_EQ(until_unscheduled_is_told({pod}, 1'003), io::duration(seconds(7)));
  EXPECT_FALSE(until_unscheduled_is_told({pod}, 1'010));
  EXPECT_FALSE(until_unscheduled_is_told({}, 0));
  pod->unscheduled_s = 0;
  EXPECT_TRUE(pod_problem(*pod, 1'000)) << "since when nobody says";
}

TEST(hold_back, an_unborn_cluster_may_still_change_all_but_its_claims) {
  const auto cluster = api::read_cluster(json::parse(R"({"metadata": {"name": "c", "namespace": "n"}, "spec": {}})"));
  auto pool = api::read_pool(json::parse(R"({"metadata": {"name": "p", "namespace": "n"},
    "spec": {"clusterRef": {"name": "c"}, "storage": {"size": "1Gi"}}})"));
  const auto live = resources::stateful_set(cluster, pool, {.image = "a"});
  pool.storage.size = "2Gi";
  auto wanted = resources::stateful_set(cluster, pool, {.image = "b"});
  EXPECT_THAT(hold_back(wanted, live, false), ElementsAre(HasSubstr("storage \"data\" from 1Gi to 2Gi")));
  EXPECT_EQ(wanted["spec"]["template"]["spec"]["containers"][0]["image"], "b");
  EXPECT_EQ(wanted["spec"]["volumeClaimTemplates"], live["spec"]["volumeClaimTemplates"]);
  auto founded = resources::stateful_set(cluster, pool, {.image = "b"});
  EXPECT_EQ(hold_back(founded, live, true).size(), 2U);
  EXPECT_EQ(founded, live);
}

TEST(hold_back, a_second_volume_that_comes_later_is_held_with_its_mount) {
  const auto cluster = api::read_cluster(json::parse(R"({"metadata": {"name": "c", "namespace": "n"}, "spec": {}})"));
  auto pool = api::read_pool(json::parse(R"({"metadata": {"name": "p", "namespace": "n"},
    "spec": {"clusterRef": {"name": "c"}, "storage": {"size": "1Gi"}}})"));
  const auto live = resources::stateful_set(cluster, pool, {.image = "a"});
  pool.wal_storage = api::volume_claim{.size = "1Gi"};
  auto wanted = resources::stateful_set(cluster, pool, {.image = "a"});
  EXPECT_THAT(hold_back(wanted, live, true), ElementsAre(HasSubstr("a volume \"wal\"")));
  EXPECT_EQ(wanted, live);
}

}  // namespace
}  // namespace braidmq::reconcile
