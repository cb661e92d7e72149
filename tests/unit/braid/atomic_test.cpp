// An atomic unit is applied whole or leaves no trace.
#include <gtest/gtest.h>

#include "braid/machine.hpp"
#include "memory_logs.hpp"
#include "support/batches.hpp"
#include "support/sim_random.hpp"

namespace braidmq::braid {
namespace {

using sim::idempotent;
using sim::make_batch;
using sim::partition_of;

// A machine with three topics of two partitions, and everything that can be seen of it.
struct world {
  world() {
    entry_command command;
    for (std::uint8_t topic = 1; topic <= 3; ++topic) {
      for (std::int32_t p = 0; p < 2; ++p) command.creations.push_back({partition_of(topic, p), 0, 1});
    }
    apply(command);
  }

  std::vector<unit_outcome> apply(const entry_command& command) {
    raft::entry entry;
    entry.index = state.applied_index() + 1;
    entry.term = raft::term(1);
    entry.payload = encode(command);
    return state.apply(entry).value();
  }
  unit_outcome apply(produce_unit unit) {
    entry_command command;
    command.units.push_back(std::move(unit));
    return apply(command).at(0);
  }

  // Ends, stored bytes, and how many producers each partition knows.
  std::string picture() const {
    std::string all;
    for (const auto& [id, one] : state.partitions()) {
      all += fmt::format("{} {}-{} {}:", id, one->start_offset(), one->end_offset(), one->producers().size());
      for (const auto& batch : logs.logs.at(id)->batches()) all += as_string_view(batch.data);
    }
    return all;
  }

  memory_logs logs;
  machine state{logs};
};

append_slice slice(std::uint8_t topic, std::int32_t partition, std::int32_t sequence, std::int64_t producer = 9,
                   std::int16_t epoch = 0) {
  const auto options = sequence < 0 ? model::batch_options() : idempotent(producer, epoch, sequence);
  return {partition_of(topic, partition), make_batch({"v"}, options)};
}
produce_unit atomic(std::vector<append_slice> slices) {
  const std::size_t count = slices.size();
  return {std::move(slices), count};
}
std::vector<std::error_code> errors_of(const unit_outcome& outcome) {
  std::vector<std::error_code> errors;
  for (const slice_outcome& one : outcome.slices) errors.push_back(one.error);
  return errors;
}
using errors = std::vector<std::error_code>;

TEST(AtomicUnit, IsAppliedWhole) {
  world broker;
  const auto outcome = broker.apply(atomic({slice(1, 0, 0), slice(2, 1, 0), slice(3, 0, -1)}));
  EXPECT_EQ(errors_of(outcome), errors(3));
  for (const slice_outcome& one : outcome.slices) EXPECT_EQ(one.base.value(), 0);
  EXPECT_EQ(broker.state.publish().size(), 3U);
}

TEST(AtomicUnit, RefusedLeavesNoTraceWhereverTheCulpritStands) {
  for (std::size_t place = 0; place < 3; ++place) {
    for (const bool unknown : {true, false}) {
      world broker;
      broker.apply(atomic({slice(1, 0, 0), slice(2, 0, 0), slice(3, 0, 0)}));
      broker.state.publish();
      const std::string before = broker.picture();
      std::vector<append_slice> slices{slice(1, 0, 1), slice(2, 0, 1), slice(3, 0, 1)};
      slices[place] = unknown ? slice(7, 0, 0) : slice(static_cast<std::uint8_t>(place + 1), 0, 5);
      errors expected(3, errc::not_attempted);
      expected[place] = unknown ? errc::unknown_partition : errc::out_of_order_sequence;
      const auto outcome = broker.apply(atomic(slices));
      EXPECT_EQ(errors_of(outcome), expected) << place;
      EXPECT_EQ(outcome.slices[0].base.value(), -1);
      EXPECT_EQ(broker.picture(), before) << place;
      EXPECT_TRUE(broker.state.publish().empty());
      // The producer goes on where it was.
      const auto next = broker.apply(atomic({slice(1, 0, 1), slice(2, 0, 1), slice(3, 0, 1)}));
      EXPECT_EQ(errors_of(next), errors(3));
      EXPECT_EQ(next.slices[2].base.value(), 1);
    }
  }
}

TEST(AtomicUnit, AProducerThatWasRefusedWithItsFirstBatchIsNotKnown) {
  world broker;
  broker.apply(atomic({slice(1, 0, 0), slice(7, 0, 0)}));
  EXPECT_EQ(broker.state.find(partition_of(1, 0))->producers().size(), 0U);
}

TEST(AtomicUnit, AStaleEpochRefusesAll) {
  world broker;
  broker.apply(atomic({slice(1, 0, 0, 9, 4)}));
  EXPECT_EQ(errors_of(broker.apply(atomic({slice(2, 0, 0), slice(1, 0, 1, 9, 3)}))),
            (errors{errc::not_attempted, errc::stale_producer_epoch}));
}

TEST(AtomicUnit, EveryCulpritIsNamed) {
  world broker;
  broker.apply(atomic({slice(1, 0, 0)}));
  EXPECT_EQ(
      errors_of(broker.apply(atomic({slice(7, 0, 0), slice(1, 0, 9), slice(2, 0, 0), slice(8, 0, 0)}))),
      (errors{errc::unknown_partition, errc::out_of_order_sequence, errc::not_attempted, errc::unknown_partition}));
}

TEST(AtomicUnit, ADuplicateCountsAsDone) {
  world broker;
  broker.apply(atomic({slice(1, 0, 0), slice(2, 0, 0)}));
  const auto again = broker.apply(atomic({slice(1, 0, 0), slice(2, 0, 1)}));
  EXPECT_EQ(errors_of(again), errors(2));
  EXPECT_TRUE(again.slices[0].duplicate);
  EXPECT_EQ(again.slices[0].base.value(), 0);
  EXPECT_FALSE(again.slices[1].duplicate);
  EXPECT_EQ(again.slices[1].base.value(), 1);
  EXPECT_EQ(broker.logs.logs[partition_of(1, 0)]->batches().size(), 1U);
}

TEST(AtomicUnit, SeveralBatchesOfOnePartitionAreCheckedOneAfterAnother) {
  world broker;
  EXPECT_EQ(errors_of(broker.apply(atomic({slice(1, 0, 0), slice(1, 0, 1), slice(1, 0, 2), slice(1, 0, 1)}))),
            errors(4));
  EXPECT_EQ(broker.state.find(partition_of(1, 0))->end_offset().value(), 3) << "the fourth is the second again";
  const std::string before = broker.picture();
  EXPECT_EQ(errors_of(broker.apply(atomic({slice(1, 0, 3), slice(1, 0, 5), slice(2, 0, 0)}))),
            (errors{errc::not_attempted, errc::out_of_order_sequence, errc::not_attempted}));
  EXPECT_EQ(errors_of(broker.apply(atomic({slice(1, 0, 4), slice(1, 0, 3)}))),
            (errors{errc::out_of_order_sequence, errc::not_attempted}))
      << "in the wrong order";
  EXPECT_EQ(broker.picture(), before);
  // A newer epoch begins at 0, and ends the older one for the rest of the unit.
  EXPECT_EQ(errors_of(broker.apply(atomic({slice(1, 0, 0, 9, 1), slice(1, 0, 1, 9, 1)}))), errors(2));
  EXPECT_EQ(errors_of(broker.apply(atomic({slice(1, 0, 0, 9, 2), slice(1, 0, 2, 9, 1)}))),
            (errors{errc::not_attempted, errc::stale_producer_epoch}));
}

TEST(AtomicUnit, OrdinarySlicesBesideItFailAlone) {
  world broker;
  produce_unit mixed{{slice(1, 0, 0), slice(2, 0, 0), slice(7, 0, 0), slice(3, 0, 0)}, 2};
  EXPECT_EQ(errors_of(broker.apply(mixed)), (errors{{}, {}, errc::unknown_partition, {}}));
  produce_unit refused{{slice(1, 0, 1), slice(7, 0, 0), slice(3, 0, 1)}, 2};
  EXPECT_EQ(errors_of(broker.apply(refused)), (errors{errc::not_attempted, errc::unknown_partition, {}}));
  EXPECT_EQ(broker.state.find(partition_of(1, 0))->end_offset().value(), 1);
  EXPECT_EQ(broker.state.find(partition_of(3, 0))->end_offset().value(), 2);
}

TEST(AtomicUnit, OtherRequestsOfTheEntryAreNotTouched) {
  world broker;
  entry_command command;
  command.units.push_back({{slice(1, 0, -1)}});
  command.units.push_back(atomic({slice(1, 0, -1), slice(7, 0, -1)}));
  command.units.push_back({{slice(1, 0, -1)}});
  const auto outcomes = broker.apply(command);
  EXPECT_EQ(outcomes[0].slices[0].base.value(), 0);
  EXPECT_EQ(outcomes[1].slices[0].error, errc::not_attempted);
  EXPECT_EQ(outcomes[2].slices[0].base.value(), 1) << "no offset was taken in between";
}

// Against the ordinary apply: a unit is refused exactly when one of its slices would be, and otherwise does the same.
TEST(AtomicUnit, AgreesWithOrdinaryUnits) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    sim::rng chance(seed);
    std::vector<produce_unit> accepted;
    world broker;
    for (int step = 0; step < 25; ++step) {
      std::vector<append_slice> slices;
      for (std::uint64_t n = 1 + chance.below(4); n > 0; --n) {
        const auto topic = static_cast<std::uint8_t>(1 + chance.below(chance.chance(0.05) ? 4 : 3));
        slices.push_back(slice(topic, static_cast<std::int32_t>(chance.below(2)),
                               static_cast<std::int32_t>(chance.below(4)) - 1,
                               static_cast<std::int64_t>(chance.below(2)),
                               static_cast<std::int16_t>(chance.below(chance.chance(0.1) ? 2 : 1))));
      }
      const std::string before = broker.picture();
      const unit_outcome outcome = broker.apply(atomic(slices));
      world other;
      for (const produce_unit& unit : accepted) other.apply({unit.slices});
      ASSERT_EQ(other.picture(), before) << seed;
      const unit_outcome ordinary = other.apply({slices});
      const bool refused = errors_of(outcome) != errors(slices.size());
      ASSERT_EQ(refused, errors_of(ordinary) != errors(slices.size())) << seed << " step " << step;
      if (refused) {
        ASSERT_EQ(broker.picture(), before) << seed << " step " << step;
        continue;
      }
      ASSERT_EQ(broker.picture(), other.picture()) << seed << " step " << step;
      for (std::size_t i = 0; i < slices.size(); ++i) {
        ASSERT_EQ(outcome.slices[i].base, ordinary.slices[i].base);
        ASSERT_EQ(outcome.slices[i].duplicate, ordinary.slices[i].duplicate);
      }
      accepted.push_back(atomic(slices));
    }
    EXPECT_GE(accepted.size(), 1U);
  }
}

}  // namespace
}  // namespace braidmq::braid
