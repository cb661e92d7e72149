#include "peer/birth.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sim_random.hpp"

namespace braidmq::peer {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class coin final : public io::random_source {
 public:
  explicit coin(std::uint64_t seed) : chance_(seed) {}
  void fill(mutable_byte_view target) override {
    for (std::byte& byte : target) byte = static_cast<std::byte>(chance_.below(256));
  }

 private:
  sim::rng chance_;
};

// Brokers 0 to 2 with folders, processes and the reports between them.
class nursery {
 public:
  explicit nursery(std::uint64_t seed = 1) : random_(seed), chance_(seed) {
    for (std::int32_t i = 0; i < 3; ++i) empty(i);
  }

  // A new folder, and with it a new life.
  void empty(std::int32_t broker) {
    stop(broker);
    folders_[broker] = {{broker, random_.next_uuid()}, {}, {}};
  }
  void start(std::int32_t broker) {
    folder& on = folders_[broker];
    birth_config config{on.life, {model::broker_id(2), model::broker_id(0), model::broker_id(1)}, cluster_id};
    running_[broker] = std::make_unique<birth>(config, on.durable, random_);
    take(broker, running_[broker]->start());
  }
  void stop(std::int32_t broker) {
    running_[broker].reset();
    writing_[broker].reset();
    for (auto& other : running_) {
      if (other) other->gone(model::broker_id(broker));
    }
  }
  bool runs(std::int32_t broker) const { return running_[broker] != nullptr; }

  // Reports as they are at their sending; they arrive when they are delivered.
  void report(std::int32_t from, std::int32_t to) {
    if (running_[from]) flying_.push_back({folders_[from].life, to, running_[from]->durable()});
  }
  void deliver(std::size_t which) {
    const letter one = flying_[which];
    flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(which));
    if (running_[one.to]) take(one.to, running_[one.to]->heard(one.from, one.state));
  }
  void finish_write(std::int32_t broker) {
    if (!writing_[broker] || !running_[broker]) return;
    folder& on = folders_[broker];
    on.durable = *std::exchange(writing_[broker], std::nullopt);
    on.history.push_back(on.durable);
    take(broker, running_[broker]->persisted());
  }
  // Everybody talks to everybody until nothing changes.
  void settle() {
    for (int round = 0; round < 10; ++round) {
      for (std::int32_t from = 0; from < 3; ++from) {
        for (std::int32_t to = 0; to < 3; ++to) {
          if (from != to) report(from, to);
        }
      }
      while (!flying_.empty()) deliver(0);
      for (std::int32_t i = 0; i < 3; ++i) finish_write(i);
    }
  }
  // The folder as it was some time ago.
  void go_back(std::int32_t broker) {
    stop(broker);
    folder& on = folders_[broker];
    on.durable =
        on.history.empty() || chance_.chance(0.3) ? birth_state() : on.history[chance_.below(on.history.size())];
  }

  birth& at(std::int32_t broker) { return *running_[broker]; }
  const birth_state& on_disk(std::int32_t broker) const { return folders_[broker].durable; }
  std::size_t flying() const { return flying_.size(); }
  sim::rng& chance() { return chance_; }
  void drop(std::size_t which) { flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(which)); }

  std::optional<uuid> cluster_id;
  std::vector<founding> born;  // all that anybody was ever told to start

 private:
  struct folder {
    raft::node_id life;
    birth_state durable;
    std::vector<birth_state> history;
  };
  struct letter {
    raft::node_id from;
    std::int32_t to;
    birth_state state;
  };

  void take(std::int32_t broker, const birth::step& step) {
    if (step.persist) {
      EXPECT_FALSE(writing_[broker]);
      writing_[broker] = step.persist;
    }
    if (step.born) {
      ASSERT_TRUE(running_[broker]->durable().born);
      born.push_back(*running_[broker]->durable().record);
    }
  }

  coin random_;
  sim::rng chance_;
  std::array<folder, 3> folders_;
  std::array<std::unique_ptr<birth>, 3> running_;
  std::array<std::optional<birth_state>, 3> writing_;
  std::vector<letter> flying_;
};

TEST(birth, all_voters_once_then_each_by_itself) {
  nursery of;
  of.start(1);
  of.start(2);
  of.settle();
  EXPECT_THAT(of.at(1).waits_for(), ElementsAre("the first start needs all voters: broker 0 is missing"));
  EXPECT_THAT(of.born, IsEmpty());
  of.start(0);
  of.settle();
  ASSERT_EQ(of.born.size(), 3U);
  for (const founding& one : of.born) EXPECT_EQ(one, of.born[0]);
  EXPECT_EQ(of.born[0].voters.size(), 3U);
  EXPECT_THAT(of.at(1).waits_for(), IsEmpty());
  for (std::int32_t i = 0; i < 3; ++i) of.stop(i);
  of.start(2);
  EXPECT_EQ(of.born.size(), 4U) << "of what is born each starts at once";
}

TEST(birth, a_missing_other_is_named_and_nothing_is_prepared) {
  nursery of;
  of.start(0);
  of.start(2);
  of.settle();
  EXPECT_THAT(of.at(0).waits_for(), ElementsAre(HasSubstr("broker 1 is missing")));
  EXPECT_FALSE(of.on_disk(0).record) << "an empty folder may still be another life tomorrow";
  of.empty(2);
  of.start(2);
  of.start(1);
  of.settle();
  EXPECT_EQ(of.born.size(), 3U);
}

TEST(birth, an_empty_folder_after_birth_founds_nothing) {
  for (const std::int32_t lost : {0, 1, 2}) {
    nursery of;
    for (std::int32_t i = 0; i < 3; ++i) of.start(i);
    of.settle();
    ASSERT_EQ(of.born.size(), 3U);
    of.empty(lost);
    of.start(lost);
    of.settle();
    EXPECT_EQ(of.born.size(), 3U);
    EXPECT_THAT(of.at(lost).waits_for(), Contains(HasSubstr("in another life")));
    EXPECT_FALSE(of.on_disk(lost).record);
  }
}

TEST(birth, two_empty_folders_found_nothing_either) {
  for (const std::int32_t kept : {0, 1, 2}) {
    nursery of;
    for (std::int32_t i = 0; i < 3; ++i) of.start(i);
    of.settle();
    for (std::int32_t i = 0; i < 3; ++i) {
      if (i != kept) of.empty(i);
    }
    for (std::int32_t i = 0; i < 3; ++i) {
      if (!of.runs(i)) of.start(i);
    }
    of.settle();
    EXPECT_EQ(of.born.size(), 3U) << "kept " << kept;
  }
}

TEST(birth, an_old_copy_of_a_folder_is_named) {
  nursery of;
  for (std::int32_t i = 0; i < 3; ++i) of.start(i);
  of.settle();
  // From before anything was written there.
  of.stop(1);
  birth_config config{of.born[0].voters[1], {model::broker_id(0), model::broker_id(1), model::broker_id(2)}, {}};
  coin random(9);
  birth old(config, {}, random);
  EXPECT_FALSE(old.start().persist);
  const birth::step heard = old.heard(of.born[0].voters[0], of.on_disk(0));
  EXPECT_FALSE(heard.persist);
  EXPECT_THAT(old.waits_for(), Contains(HasSubstr("an old copy")));
}

TEST(birth, a_configured_cluster_id_is_the_clusters) {
  nursery of;
  of.cluster_id = uuid{};
  of.cluster_id->octets.fill(7);
  for (std::int32_t i = 0; i < 3; ++i) of.start(i);
  of.settle();
  ASSERT_EQ(of.born.size(), 3U);
  EXPECT_EQ(of.born[0].cluster_id, *of.cluster_id);
}

// One broker as the others see it, by hand.
struct by_hand {
  coin random{3};
  raft::node_id own{1, random.next_uuid()};
  std::array<raft::node_id, 2> founder{{{0, random.next_uuid()}, {0, random.next_uuid()}}};  // in two lives
  raft::node_id third{2, random.next_uuid()};
  std::vector<model::broker_id> voters{model::broker_id(0), model::broker_id(1), model::broker_id(2)};

  founding of(const raft::node_id& by, std::uint8_t cluster, const raft::node_id& second) {
    founding made{{}, {by, second, third}};
    made.cluster_id.octets.fill(cluster);
    return made;
  }
};

TEST(birth, one_life_prepares_one_founding) {
  by_hand hand;
  birth other({hand.own, hand.voters, {}}, {}, hand.random);
  const founding first = hand.of(hand.founder[0], 1, hand.own);
  const founding second = hand.of(hand.founder[1], 2, hand.own);
  ASSERT_TRUE(other.heard(hand.founder[0], {first, false}).persist);
  EXPECT_FALSE(other.heard(hand.founder[1], {second, false}).persist) << "also while the first is being written";
  other.persisted();
  EXPECT_EQ(other.durable().record, first);
  EXPECT_FALSE(other.heard(hand.founder[1], {second, false}).persist);
  EXPECT_FALSE(other.heard(hand.third, {second, true}).persist) << "nor is it born in another one";
  EXPECT_THAT(other.waits_for(), Contains(HasSubstr("a founding that was not finished")));
  const birth::step born = other.heard(hand.third, {first, true});
  ASSERT_TRUE(born.persist);
  EXPECT_TRUE(born.persist->born);
}

TEST(birth, a_founding_that_names_another_life_or_other_voters_is_not_prepared) {
  by_hand hand;
  birth other({hand.own, hand.voters, {}}, {}, hand.random);
  const founding of_another_life = hand.of(hand.founder[0], 1, {1, hand.random.next_uuid()});
  EXPECT_FALSE(other.heard(hand.founder[0], {of_another_life, false}).persist);
  founding of_others = hand.of(hand.founder[0], 1, hand.own);
  of_others.voters.pop_back();
  EXPECT_FALSE(other.heard(hand.founder[0], {of_others, false}).persist);
  EXPECT_FALSE(other.heard(hand.third, {hand.of(hand.founder[0], 1, hand.own), false}).persist) << "not the founder";
  const raft::node_id stranger{7, hand.random.next_uuid()};
  EXPECT_FALSE(other.heard(stranger, {hand.of(hand.founder[0], 1, hand.own), true}).persist) << "no voter";
}

TEST(birth, a_single_voter_is_born_alone) {
  coin random(2);
  birth alone({{0, random.next_uuid()}, {model::broker_id(0)}, {}}, {}, random);
  birth::step next = alone.start();
  ASSERT_TRUE(next.persist && next.persist->record && !next.persist->born);
  next = alone.persisted();
  ASSERT_TRUE(next.persist && next.persist->born);
  next = alone.persisted();
  EXPECT_TRUE(next.born && next.tell);
}

// Whatever is lost, late or doubled, and whoever is emptied or comes back with an old copy, but for one broker whose
// folder is kept: there is never a second cluster.
TEST(birth, never_twice) {
  std::size_t born = 0;
  std::size_t emptied_runs_born = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    nursery of(seed);
    sim::rng& chance = of.chance();
    const bool empties = chance.chance(0.5);
    const std::int32_t kept = static_cast<std::int32_t>(chance.below(3));
    for (int step = 0; step < 300; ++step) {
      const auto broker = static_cast<std::int32_t>(chance.below(3));
      const std::uint64_t what = chance.below(100);
      if (what < 10) {
        if (!of.runs(broker)) of.start(broker);
      } else if (what < 12) {
        of.stop(broker);
      } else if (what < 14 && empties && broker != kept) {
        of.empty(broker);
      } else if (what < 15 && empties && broker != kept) {
        of.go_back(broker);
      } else if (what < 50) {
        of.report(broker, static_cast<std::int32_t>((broker + 1 + static_cast<std::int32_t>(chance.below(2))) % 3));
      } else if (what < 80) {
        if (of.flying() > 0) of.deliver(chance.below(of.flying()));
      } else if (what < 83) {
        if (of.flying() > 0) of.drop(chance.below(of.flying()));
      } else {
        of.finish_write(broker);
      }
    }
    std::set<uuid> clusters;
    for (const founding& one : of.born) {
      clusters.insert(one.cluster_id);
      for (const founding& other : of.born) {
        if (one == other) continue;
        for (const raft::node_id& voter : one.voters) {
          ASSERT_EQ(std::ranges::find(other.voters, voter), other.voters.end()) << "seed " << seed;
        }
      }
    }
    ASSERT_LE(clusters.size(), 1U) << "seed " << seed;
    born += clusters.size();
    emptied_runs_born += empties ? clusters.size() : 0;
    if (!empties) {
      for (std::int32_t i = 0; i < 3; ++i) {
        if (!of.runs(i)) of.start(i);
      }
      of.settle();
      for (std::int32_t i = 0; i < 3; ++i) ASSERT_TRUE(of.on_disk(i).born) << "seed " << seed << ": and it comes about";
    }
  }
  EXPECT_GT(born, 250U);
  EXPECT_GT(emptied_runs_born, 10U);
}

}  // namespace
}  // namespace braidmq::peer
