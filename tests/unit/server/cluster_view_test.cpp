#include "server/cluster_view.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metadata/machine.hpp"
#include "protocol/generated/fetch.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr model::broker_id b0(0);
constexpr model::broker_id b1(1);
constexpr model::broker_id b2(2);

// Of broker 0 in a cluster of three, of which 1 leads in term 7.
class ClusterViewTest : public ::testing::Test {
 protected:
  ClusterViewTest() {
    view_.self = b0;
    view_.listener = "PLAINTEXT";
    view_.voters = {b0, b1, b2};
    view_.own = endpoint{"PLAINTEXT", "b0.example", 9092};
    view_.own_rack = "east";
    view_.alive = [this](model::broker_id broker) { return !gone_.contains(broker); };
    for (const model::broker_id id : {b0, b1, b2}) register_broker(id);
    lead(b1, 7);
  }
  void register_broker(model::broker_id id, std::vector<metadata::advertised_listener> listeners) {
    metadata::broker_registration registration;
    registration.incarnation.octets.fill(static_cast<std::uint8_t>(id.value() + 1));
    registration.listeners = std::move(listeners);
    registration.rack = id == b0 ? "east" : "west";
    const bytes command = metadata::encode(metadata::register_broker{id, registration});
    EXPECT_FALSE(machine_.apply({raft::term(1), raft::index(++index_), raft::entry_kind::command, command}).error);
    view_.image = machine_.current();
  }
  void register_broker(model::broker_id id) {
    register_broker(id, {{"PLAINTEXT", fmt::format("b{}.example", id), 9092}});
  }
  void lead(model::broker_id leader, std::uint64_t term, bool serves = false) {
    view_.braid = {raft::term(term), leader == model::no_broker ? raft::node_id() : raft::node_id{leader.value(), {}},
                   serves};
  }
  std::vector<model::broker_id> named() const {
    std::vector<model::broker_id> ids;
    for (const cluster_node& one : view_.nodes()) ids.push_back(one.id);
    return ids;
  }

  cluster_view view_;
  std::set<model::broker_id> gone_;
  metadata::machine machine_;
  std::uint64_t index_ = 0;
};

TEST_F(ClusterViewTest, PartitionsHaveTheLeaderAndTheTermOfTheirBraid) {
  const leadership said = view_.of_partitions(12);
  EXPECT_EQ(said.leader, b1);
  EXPECT_EQ(said.epoch, model::leader_epoch(7));
  EXPECT_EQ(said.error, error_code::none);
  EXPECT_THAT(said.replicas, ElementsAre(b0, b1, b2));
  EXPECT_THAT(said.in_sync, ElementsAre(b0, b1, b2));
  EXPECT_THAT(said.offline, IsEmpty());
}

TEST_F(ClusterViewTest, WithoutALeaderItIsNotAvailableAndTheEpochStays) {
  lead(model::no_broker, 8);
  for (const std::int16_t version : {0, 5, 6, 13}) {
    const leadership said = view_.of_partitions(version);
    EXPECT_EQ(said.leader, model::no_broker);
    EXPECT_EQ(said.error, error_code::leader_not_available);
    EXPECT_EQ(said.epoch, model::leader_epoch(8));
  }
}

TEST_F(ClusterViewTest, ABrokerThatIsElectedLeadsOnlyOnceItServes) {
  lead(b0, 8);
  EXPECT_EQ(view_.leader(), model::no_broker);
  EXPECT_EQ(view_.of_partitions(12).error, error_code::leader_not_available);
  lead(b0, 8, true);
  EXPECT_EQ(view_.of_partitions(12).leader, b0);
}

TEST_F(ClusterViewTest, ALeaderThatIsGoneIsNotNamed) {
  gone_ = {b1};
  const leadership said = view_.of_partitions(12);
  EXPECT_EQ(said.leader, model::no_broker);
  EXPECT_EQ(said.error, error_code::leader_not_available);
  EXPECT_THAT(said.replicas, ElementsAre(b0, b1, b2));
  EXPECT_THAT(said.in_sync, ElementsAre(b0, b2));
  EXPECT_THAT(said.offline, ElementsAre(b1));
}

TEST_F(ClusterViewTest, TheOldestClientsKnowNoOfflineReplicas) {
  gone_ = {b2};
  EXPECT_THAT(view_.of_partitions(0).replicas, ElementsAre(b0, b1));
  EXPECT_EQ(view_.of_partitions(0).error, error_code::replica_not_available);
  EXPECT_THAT(view_.of_partitions(1).replicas, ElementsAre(b0, b1, b2));
  EXPECT_EQ(view_.of_partitions(1).error, error_code::none);
}

TEST_F(ClusterViewTest, ALeaderWithoutThisListenerHasAnErrorOfItsOwnSinceVersion6) {
  register_broker(b1, {{"INTERNAL", "b1.local", 9192}});
  EXPECT_EQ(view_.of_partitions(5).error, error_code::leader_not_available);
  EXPECT_EQ(view_.of_partitions(6).error, error_code::listener_not_found);
  EXPECT_EQ(view_.of_partitions(6).leader, model::no_broker);
  EXPECT_THAT(view_.of_partitions(6).offline, ElementsAre(b1))
      << "as in Kafka: clients of this listener cannot reach it";
  EXPECT_THAT(named(), ElementsAre(b0, b2));
  view_.listener = "INTERNAL";
  view_.own.reset();
  EXPECT_THAT(named(), ElementsAre(b1));
  EXPECT_EQ(view_.of_partitions(6).leader, b1);
}

TEST_F(ClusterViewTest, ABrokerKnowsItselfBeforeTheLogDoes) {
  view_.image = std::make_shared<metadata::image>();
  EXPECT_THAT(named(), ElementsAre(b0));
  EXPECT_EQ(view_.nodes()[0].rack, "east");
  EXPECT_TRUE(view_.nodes()[0].alive);
}

TEST_F(ClusterViewTest, TheControllerIsTheLeaderOfTheOtherQuorum) {
  EXPECT_EQ(view_.controller_id(), model::no_broker);
  view_.controller.leader = {2, {}};
  EXPECT_EQ(view_.controller_id(), b2);
}

TEST_F(ClusterViewTest, RolesAreWords) {
  view_.controller.leader = {1, {}};
  EXPECT_THAT(view_.roles_of(b1), ElementsAre("controller", "leader"));
  EXPECT_THAT(view_.roles_of(b0), ElementsAre("replica"));
  EXPECT_THAT(view_.roles_of(model::broker_id(9)), IsEmpty());
  lead(model::no_broker, 8);
  EXPECT_THAT(view_.roles_of(b1), ElementsAre("controller", "replica"));
}

TEST_F(ClusterViewTest, OnlyALeaderSendsReadersToAReplicaInTheirRack) {
  EXPECT_EQ(view_.preferred_replica("west"), std::nullopt) << "1 leads, not this broker";
  lead(b0, 7, true);
  EXPECT_EQ(view_.preferred_replica("west"), b1);
  EXPECT_EQ(view_.preferred_replica("east"), std::nullopt) << "this broker stands there itself";
  EXPECT_EQ(view_.preferred_replica("north"), std::nullopt) << "nobody stands there";
  EXPECT_EQ(view_.preferred_replica(""), std::nullopt) << "the reader does not say";
  gone_ = {b1};
  EXPECT_EQ(view_.preferred_replica("west"), b2);
  gone_ = {b1, b2};
  EXPECT_EQ(view_.preferred_replica("west"), std::nullopt);
  lead(b0, 7, false);
  gone_ = {};
  EXPECT_EQ(view_.preferred_replica("west"), std::nullopt) << "it does not serve yet";
}

TEST_F(ClusterViewTest, ARefusalNamesTheLeaderAndItsAddressOnce) {
  protocol::fetch_response response;
  auto& partitions = response.responses.emplace_back().partitions;
  partitions.resize(2);
  for (auto& one : partitions) name_leader(view_, response, one);
  for (const auto& one : partitions) {
    EXPECT_EQ(one.current_leader.leader_id, b1);
    EXPECT_EQ(one.current_leader.leader_epoch, model::leader_epoch(7));
  }
  ASSERT_EQ(response.node_endpoints.size(), 1U);
  EXPECT_EQ(response.node_endpoints[0].node_id, b1);
  EXPECT_EQ(response.node_endpoints[0].host, "b1.example");
  EXPECT_EQ(response.node_endpoints[0].port, 9092);
  EXPECT_EQ(response.node_endpoints[0].rack, "west");
}

TEST_F(ClusterViewTest, ARefusalWithoutALeaderNamesNobody) {
  lead(model::no_broker, 8);
  protocol::fetch_response response;
  auto& one = response.responses.emplace_back().partitions.emplace_back();
  name_leader(view_, response, one);
  EXPECT_EQ(one.current_leader.leader_id, model::no_broker);
  EXPECT_EQ(one.current_leader.leader_epoch, model::no_epoch);
  EXPECT_THAT(response.node_endpoints, IsEmpty());
}

}  // namespace
}  // namespace braidmq::server
