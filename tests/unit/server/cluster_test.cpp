// What clients hear from the brokers of a cluster of three, whichever they ask.
#include <set>

#include <gmock/gmock.h>

#include "protocol/generated/create_topics.hpp"
#include "protocol/generated/delete_topics.hpp"
#include "protocol/generated/fetch.hpp"
#include "protocol/generated/init_producer_id.hpp"
#include "protocol/generated/list_offsets.hpp"
#include "protocol/generated/metadata.hpp"
#include "protocol/generated/offset_for_leader_epoch.hpp"
#include "protocol/generated/produce.hpp"
#include "unit/server/cluster_fixture.hpp"

namespace braidmq::server {
namespace {

using namespace std::chrono_literals;
using protocol::error_code;

class KafkaClusterTest : public ClusterTest {
 protected:
  std::shared_ptr<const metadata::topic_image> make_topic(const std::string& name) {
    std::shared_ptr<const metadata::topic_image> made;
    of(controller()).controller().create_topic({name, 1, -1, {}}, 5s, [&](auto said) {
      made = said ? *said : nullptr;
    });
    EXPECT_TRUE(wait_for([&] { return made != nullptr; }));
    // Everybody knows of it, and the braid has it.
    EXPECT_TRUE(wait_for([&] {
      return std::ranges::all_of(machines_, [&](const auto& one) {
        return one.second.broker->image()->find(name) != nullptr &&
               one.second.broker->braid().statistics().partitions > 0;
      });
    }));
    return made;
  }
  bool all_ready() {
    return std::ranges::all_of(machines_, [](const auto& one) { return one.second.broker->readiness().empty(); });
  }
  error_code produce(std::int32_t id, const std::string& topic) {
    return ask<protocol::produce_response>(id, produce_request(topic), 12)
        ->responses.at(0)
        .partition_responses.at(0)
        .error_code;
  }
  protocol::produce_request produce_request(const std::string& topic) {
    protocol::produce_request request;
    request.acks = -1;
    request.timeout_ms = 5000;
    auto& data = request.topic_data.emplace_back();
    data.name = topic;
    data.partition_data.push_back({model::partition_index(0), sim::make_batch({"v"}, {}, loop_.wall_ms())});
    return request;
  }
};

TEST_F(KafkaClusterTest, EveryBrokerNamesTheSameLeader) {
  start_all();
  make_topic("orders");
  const std::int32_t leads = leader();
  const auto term = of(leads).braid().office().term.value();
  for (std::int32_t id = 0; id < brokers; ++id) {
    protocol::metadata_request request;
    request.topics = std::nullopt;
    const auto said = ask<protocol::metadata_response>(id, request, 12);
    const auto& partition = said->topics.at(0).partitions.at(0);
    EXPECT_EQ(said->brokers.size(), 3U) << "each has registered itself";
    EXPECT_EQ(partition.leader_id, model::broker_id(leads)) << id;
    EXPECT_EQ(partition.leader_epoch.value(), static_cast<std::int32_t>(term));
    EXPECT_THAT(partition.replica_nodes,
                ::testing::ElementsAre(model::broker_id(0), model::broker_id(1), model::broker_id(2)));
    EXPECT_EQ(said->controller_id, model::broker_id(controller()));
  }
}

TEST_F(KafkaClusterTest, WhoDoesNotLeadRefusesAndNamesWhoDoes) {
  start_all();
  const auto topic = make_topic("orders");
  const std::int32_t leads = leader();
  ASSERT_EQ(produce(leads, "orders"), error_code::none);
  const std::int32_t asked = follower();
  const auto epoch = model::leader_epoch(static_cast<std::int32_t>(of(leads).braid().office().term.value()));

  for (std::int16_t version = 9; version <= 12; ++version) {
    const auto said = ask<protocol::produce_response>(asked, produce_request("orders"), version);
    const auto& partition = said->responses.at(0).partition_responses.at(0);
    EXPECT_EQ(partition.error_code, error_code::not_leader_or_follower);
    EXPECT_EQ(partition.current_leader.leader_id, version >= 10 ? model::broker_id(leads) : model::no_broker);
    if (version >= 10) EXPECT_EQ(partition.current_leader.leader_epoch, epoch);
  }
  protocol::fetch_request fetch;
  fetch.session_epoch = -1;
  fetch.max_bytes = 1 << 20;
  auto& wanted = fetch.topics.emplace_back();
  wanted.topic_id = topic->id;
  auto& place = wanted.partitions.emplace_back();
  place.partition = model::partition_index(0);
  place.partition_max_bytes = 1 << 20;
  place.current_leader_epoch = model::leader_epoch(epoch.value() - 1);
  const auto fenced = ask<protocol::fetch_response>(leads, fetch, 17);
  EXPECT_EQ(fenced->responses.at(0).partitions.at(0).error_code, error_code::fenced_leader_epoch);
  EXPECT_EQ(fenced->responses.at(0).partitions.at(0).current_leader.leader_id, model::broker_id(leads));
  ASSERT_EQ(fenced->node_endpoints.size(), 1U);
  EXPECT_EQ(fenced->node_endpoints[0].host, fmt::format("b{}.example", leads));
  EXPECT_TRUE(ask<protocol::fetch_response>(leads, fetch, 15)->node_endpoints.empty());

  protocol::offset_for_leader_epoch_request ends;
  auto& end = ends.topics.emplace_back();
  end.topic = "orders";
  end.partitions.push_back({model::partition_index(0), model::no_epoch, epoch});
  const auto refused = ask<protocol::offset_for_leader_epoch_response>(asked, ends, 4);
  EXPECT_EQ(refused->topics.at(0).partitions.at(0).error_code, error_code::not_leader_or_follower);
  EXPECT_EQ(ask<protocol::offset_for_leader_epoch_response>(leads, ends, 4)->topics[0].partitions[0].end_offset.value(),
            1);

  protocol::list_offsets_request offsets;
  auto& list = offsets.topics.emplace_back();
  list.name = "orders";
  list.partitions.emplace_back().timestamp = -1;
  EXPECT_EQ(ask<protocol::list_offsets_response>(asked, offsets, 7)->topics.at(0).partitions.at(0).error_code,
            error_code::not_leader_or_follower);
}

TEST_F(KafkaClusterTest, ALeaderSendsReadersToAReplicaInTheirRackWhenItIsToldTo) {
  for (const bool is_told : {false, true}) {
    rack_aware_reads_ = is_told;
    for (std::int32_t id = 0; id < brokers; ++id) end(id);
    start_all();
    ASSERT_TRUE(wait_for([this] { return all_ready(); }));
    if (!is_told) make_topic("orders");
    const std::int32_t leads = leader();
    ASSERT_EQ(produce(leads, "orders"), error_code::none);
    protocol::fetch_request fetch;
    fetch.session_epoch = -1;
    fetch.max_bytes = 1 << 20;
    fetch.min_bytes = 1;
    fetch.max_wait_ms = 5'000;
    auto& wanted = fetch.topics.emplace_back();
    wanted.topic = "orders";
    auto& place = wanted.partitions.emplace_back();
    place.partition = model::partition_index(0);
    place.partition_max_bytes = 1 << 20;
    const auto answer_to = [&](const std::string& rack, std::int16_t version) {
      fetch.rack_id = rack;
      return ask<protocol::fetch_response>(leads, fetch, version)->responses.at(0).partitions.at(0);
    };
    const std::string other = racks_.at(leads) == "east" ? "west" : "east";
    const auto sent_away = answer_to(other, 11);
    EXPECT_EQ(sent_away.error_code, error_code::none);
    EXPECT_EQ(sent_away.preferred_read_replica != model::no_broker, is_told);
    EXPECT_EQ(sent_away.records->empty(), is_told);
    if (is_told) EXPECT_EQ(racks_.at(sent_away.preferred_read_replica.value()), other);
    for (const auto& stays : {answer_to(racks_.at(leads), 11), answer_to("", 11), answer_to("north", 12)}) {
      EXPECT_EQ(stays.preferred_read_replica, model::no_broker);
      EXPECT_FALSE(stays.records->empty());
    }
    // At the end there is nothing to wait for here: whoever is sent away hears it at once.
    place.fetch_offset = answer_to("", 11).high_watermark;
    const io::time_point before = loop_.now();
    EXPECT_EQ(answer_to(other, 11).preferred_read_replica != model::no_broker, is_told);
    EXPECT_EQ(loop_.now() - before < 1s, is_told);
  }
}

TEST_F(KafkaClusterTest, AFollowerGivesWhatItHasAppliedAndSaysOfTheRestThatItIsNotThereYet) {
  start_all();
  const auto topic = make_topic("orders");
  ASSERT_EQ(produce(leader(), "orders"), error_code::none);
  ASSERT_TRUE(wait_for([this] { return all_ready(); }));
  const std::int32_t asked = follower();
  protocol::fetch_request fetch;
  fetch.session_epoch = -1;
  fetch.max_bytes = 1 << 20;
  auto& wanted = fetch.topics.emplace_back();
  wanted.topic = "orders";
  wanted.topic_id = topic->id;
  auto& place = wanted.partitions.emplace_back();
  place.partition = model::partition_index(0);
  place.partition_max_bytes = 1 << 20;
  const auto answer = [&](std::int16_t version, std::int64_t from) {
    place.fetch_offset = model::offset(from);
    return ask<protocol::fetch_response>(asked, fetch, version)->responses.at(0).partitions.at(0);
  };
  ASSERT_TRUE(wait_for([&] { return answer(13, 0).high_watermark == model::offset(1); }));
  EXPECT_FALSE(answer(13, 0).records->empty());
  EXPECT_EQ(answer(13, 1).error_code, error_code::none);
  // Clients that do not know of other replicas than the leader find it out here.
  EXPECT_EQ(answer(10, 0).error_code, error_code::not_leader_or_follower);
  // The leader may have it. That the client's last record is unknown here says nothing either.
  place.last_fetched_epoch = model::leader_epoch(static_cast<std::int32_t>(of(asked).braid().office().term.value()));
  EXPECT_EQ(answer(13, 2).error_code, error_code::offset_not_available);
  EXPECT_EQ(answer(13, 2).diverging_epoch.end_offset, model::offset(-1));
  place.last_fetched_epoch = model::no_epoch;

  // Who waits at a follower hears of what is written.
  fetch.max_wait_ms = 10'000;
  fetch.min_bytes = 1;
  loop_.schedule(100ms, [&] { send(leader(), produce_request("orders"), 12); });
  const io::time_point before = loop_.now();
  EXPECT_FALSE(answer(13, 1).records->empty());
  EXPECT_LT(loop_.now() - before, 1s);

  // Without a leader it may be behind for ever, and says so.
  for (std::int32_t id = 0; id < brokers; ++id) {
    if (id != asked) end(id);
  }
  ASSERT_TRUE(wait_for([&] { return of(asked).braid().office().leader.is_none(); }));
  EXPECT_EQ(answer(13, 0).error_code, error_code::not_leader_or_follower);
}

TEST_F(KafkaClusterTest, APositionStandsAfterAnElectionBetweenBrokers) {
  start_all();
  make_topic("orders");
  const std::int32_t first = leader();
  const auto first_epoch = model::leader_epoch(static_cast<std::int32_t>(of(first).braid().office().term.value()));
  for (int i = 0; i < 3; ++i) ASSERT_EQ(produce(first, "orders"), error_code::none);
  end(first);
  ASSERT_TRUE(wait_for([this] { return leader() >= 0; }));
  const std::int32_t second = leader();
  const auto second_epoch = model::leader_epoch(static_cast<std::int32_t>(of(second).braid().office().term.value()));
  ASSERT_GT(second_epoch, first_epoch);
  ASSERT_EQ(produce(second, "orders"), error_code::none);
  protocol::offset_for_leader_epoch_request ends;
  auto& end_of = ends.topics.emplace_back();
  end_of.topic = "orders";
  // Every epoch up to the present one: what a Java consumer at offset 3 asks after it has met the new leader.
  for (std::int32_t epoch = 0; epoch <= second_epoch.value(); ++epoch) {
    end_of.partitions = {{model::partition_index(0), second_epoch, model::leader_epoch(epoch)}};
    const auto said = ask<protocol::offset_for_leader_epoch_response>(second, ends, 4)->topics.at(0).partitions.at(0);
    EXPECT_EQ(said.error_code, error_code::none);
    EXPECT_GE(said.leader_epoch.value(), 0) << "undefined: the consumer would reset";
    EXPECT_EQ(said.end_offset.value(), epoch < first_epoch.value() ? 0 : epoch < second_epoch.value() ? 3 : 4) << epoch;
  }
}

TEST_F(KafkaClusterTest, AReplicaThatFollowsIsReadyOnceItHasCaughtUp) {
  start_all();
  make_topic("orders");
  const std::int32_t asked = follower();
  const auto lacks_braid = [&](std::int32_t id) {
    return std::ranges::any_of(of(id).readiness(),
                               [](const std::string& word) { return word.find("the braid") != std::string::npos; });
  };
  EXPECT_TRUE(wait_for([&] { return !lacks_braid(asked); }));
  EXPECT_FALSE(lacks_braid(leader()));
  // Again after a start, while nothing is left to be told by anybody.
  end(asked);
  ASSERT_TRUE(start(asked).has_value());
  EXPECT_TRUE(wait_for([&] { return machines_[asked].broker != nullptr; }));
  EXPECT_TRUE(lacks_braid(asked)) << "it has heard nobody yet";
  EXPECT_TRUE(wait_for([&] { return !lacks_braid(asked); }));
  EXPECT_EQ(of(asked).braid().statistics().applied_index, of(leader()).braid().statistics().applied_index);
}

TEST_F(KafkaClusterTest, AChangeIsAppliedHereWhenAFollowerSaysSo) {
  start_all();
  const auto topic = make_topic("orders");
  const std::int32_t asked = follower();
  std::optional<status> said;
  of(asked).braid().when_applied(topic->id, topic->created_index, 5s, [&](status done) { said = std::move(done); });
  EXPECT_TRUE(wait_for([&] { return said.has_value(); }));
  EXPECT_TRUE(said->has_value()) << said->error().to_string();
  EXPECT_NE(of(asked).braid().state().find_topic(topic->id), nullptr);
  // And when it is gone.
  std::optional<std::uint64_t> deleted;
  of(controller()).controller().delete_topic(topic->id, 5s, [&](auto gone) {
    if (gone) deleted = gone->index;
  });
  ASSERT_TRUE(wait_for([&] { return deleted.has_value(); }));
  said.reset();
  of(asked).braid().when_applied(topic->id, *deleted, 5s, [&](status done) { said = std::move(done); });
  EXPECT_TRUE(wait_for([&] { return said.has_value(); }));
  EXPECT_TRUE(said->has_value()) << said->error().to_string();
  EXPECT_EQ(of(asked).braid().state().find_topic(topic->id), nullptr);
}

TEST_F(KafkaClusterTest, AnyBrokerMakesAndRemovesTopicsAndGivesProducerIds) {
  start_all();
  ASSERT_TRUE(wait_for([this] { return all_ready(); }));
  for (std::int32_t id = 0; id < brokers; ++id) {
    const std::string name = fmt::format("made-by-{}", id);
    protocol::create_topics_request creation;
    creation.timeout_ms = 5'000;
    auto& topic = creation.topics.emplace_back();
    topic.name = name;
    topic.num_partitions = 3;
    topic.replication_factor = -1;
    EXPECT_EQ(ask<protocol::create_topics_response>(id, creation, 7)->topics.at(0).error_code, error_code::none) << id;
    EXPECT_EQ(of(id).braid().statistics().partitions, 3U) << "what was said to be made is there, also on " << id;
    protocol::delete_topics_request deletion;
    deletion.timeout_ms = 5'000;
    deletion.topics.emplace_back().name = name;
    EXPECT_EQ(ask<protocol::delete_topics_response>(id, deletion, 6)->responses.at(0).error_code, error_code::none)
        << id;
    EXPECT_EQ(of(id).braid().statistics().partitions, 0U) << id;
  }
  std::set<model::producer_id> ids;
  for (std::int32_t id = 0; id < brokers; ++id) {
    protocol::init_producer_id_request request;
    request.transactional_id = std::nullopt;
    const auto said = ask<protocol::init_producer_id_response>(id, request, 4);
    EXPECT_EQ(said->error_code, error_code::none) << id;
    ids.insert(said->producer_id);
  }
  EXPECT_EQ(ids.size(), 3U);
}

TEST_F(KafkaClusterTest, ADrainedBrokerHasHandedOverWhatItLed) {
  start_all();
  ASSERT_TRUE(wait_for([this] { return all_ready(); }));
  make_topic("orders");
  // Until it leads nothing: the two quorums may have different leaders, so each of them is drained in turn.
  const std::int32_t first = leader();
  std::optional<result<drain_state>> said;
  of(first).drain().begin(30s, [&](auto done) { said = std::move(done); });
  EXPECT_GT(of(first).drain().state().leaderships, 0);
  ASSERT_TRUE(wait_for([&] { return said.has_value(); }));
  ASSERT_TRUE(said->has_value()) << said->error().to_string();
  EXPECT_TRUE((*said)->draining);
  EXPECT_FALSE((*said)->last_broker);
  EXPECT_EQ((*said)->leaderships, 0);
  ASSERT_TRUE(wait_for([this] { return leader() >= 0 && controller() >= 0; }));
  EXPECT_NE(leader(), first);
  EXPECT_NE(controller(), first);
  EXPECT_EQ(produce(leader(), "orders"), error_code::none);
  // Again, and nothing is left to be done.
  said.reset();
  of(first).drain().begin(30s, [&](auto done) { said = std::move(done); });
  run();
  ASSERT_TRUE(said.has_value() && said->has_value());
  EXPECT_EQ((*said)->leaderships, 0);
  // It is not elected again, whatever happens to the one that leads.
  const std::int32_t second = leader();
  end(second);
  ASSERT_TRUE(wait_for([this] { return leader() >= 0; }));
  EXPECT_NE(leader(), first);
}

TEST_F(KafkaClusterTest, WhoHasHandedOverRefusesWhenItKnowsWhoLeads) {
  start_all();
  make_topic("orders");
  ASSERT_TRUE(wait_for([this] { return all_ready(); }));
  const std::int32_t first = leader();
  of(first).drain().begin(8s, [](const auto& /*said*/) {});
  std::vector<answer_to_come> answers;
  while (of(first).braid().office().leader.is_none() || of(first).braid().office().leader.broker == first) {
    ASSERT_LT(answers.size(), 5'000U);
    answers.push_back(send(first, produce_request("orders"), 12));
    loop_.advance(1ms);
    for (int task = 0; task < 3; ++task) loop_.run_one();
  }
  std::size_t refused = 0;
  for (const answer_to_come& said : answers) {
    const auto partition = take<protocol::produce_response>(said, 12)->responses.at(0).partition_responses.at(0);
    if (partition.error_code == error_code::none) continue;
    EXPECT_EQ(partition.error_code, error_code::not_leader_or_follower);
    EXPECT_NE(partition.current_leader.leader_id, model::no_broker) << "a client would ask in vain who leads";
    EXPECT_NE(partition.current_leader.leader_id, model::broker_id(first));
    ++refused;
  }
  EXPECT_GT(refused, 0U);
}

TEST_F(KafkaClusterTest, ADrainGoesOnBehindWhoeverDoesNotWaitForIt) {
  start_all();
  ASSERT_TRUE(wait_for([this] { return all_ready(); }));
  const std::int32_t first = leader();
  std::vector<std::int32_t> left;
  const auto note = [&left](const result<drain_state>& said) { left.push_back(said ? said->leaderships : -1); };
  of(first).drain().begin(0s, note);
  of(first).drain().begin(0s, note);
  of(first).drain().begin(30s, note);
  ASSERT_TRUE(wait_for([&] { return left.size() == 3; }));
  EXPECT_EQ(left.back(), 0) << "who waits hears of the end";
  EXPECT_TRUE(wait_for([&] { return leader() >= 0 && leader() != first && controller() != first; }));
  EXPECT_EQ(of(first).drain().state().leaderships, 0);
}

TEST_F(KafkaClusterTest, ADrainThatNobodyCanTakeOverSaysSo) {
  start_all();
  ASSERT_TRUE(wait_for([this] { return all_ready(); }));
  const std::int32_t leads = leader();
  std::vector<std::int32_t> others;
  for (std::int32_t id = 0; id < brokers; ++id) {
    if (id != leads) others.push_back(id);
  }
  for (const std::int32_t id : others) end(id);
  std::optional<result<drain_state>> said;
  of(leads).drain().begin(2s, [&](auto done) { said = std::move(done); });
  const io::time_point before = loop_.now();
  ASSERT_TRUE(wait_for([&] { return said.has_value(); }));
  EXPECT_LE(loop_.now() - before, 8s);
  ASSERT_TRUE(said->has_value()) << "without a majority it cannot tell anybody, and need not: "
                                 << said->error().to_string();
  EXPECT_TRUE((*said)->draining);
  EXPECT_TRUE((*said)->last_broker) << "nobody else is there";
}

TEST_F(KafkaClusterTest, TheApplyLevelRisesWhenAllVotersKnowIt) {
  levels_[2] = braid::newest_apply_level;
  ASSERT_NO_FATAL_FAILURE(start_all());
  pass(std::chrono::seconds(2));
  const auto level_of = [this](std::int32_t id) { return of(id).braid().statistics().apply_level; };
  for (std::int32_t id = 0; id < brokers; ++id) EXPECT_LT(level_of(id), next_level);
  end(2);
  levels_[2] = next_level;
  ASSERT_TRUE(start(2));
  const bool all_have_it = wait_for([&] {
    return level_of(0) == next_level && level_of(1) == next_level && machines_.at(2).broker &&
           level_of(2) == next_level;
  });
  EXPECT_TRUE(all_have_it);
}

}  // namespace
}  // namespace braidmq::server
