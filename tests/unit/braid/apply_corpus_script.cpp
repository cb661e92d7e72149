// What tests/data/apply/level-1.txt was recorded from. Entries are made by the code of today; the file holds their
// bytes, and is not made again.
#include <array>

#include "apply_corpus.hpp"
#include "support/batches.hpp"
#include "support/sim_random.hpp"

namespace braidmq::braid::corpus {
namespace {

using sim::idempotent;
using sim::make_batch;
using sim::partition_of;

// Topics of the script: 1 to 3 of two partitions each; 4 is not there before its time; 9 never is.
constexpr std::int64_t day_ms = 86'400'000;

class script {
 public:
  void lead(std::uint64_t term) {
    term_ = term;
    entries_.push_back({raft::term(term_), raft::index(entries_.size() + 1), raft::entry_kind::noop, {}});
  }
  void pass(std::int64_t ms) { time_ms_ += ms; }
  std::int64_t time_ms() const { return time_ms_; }
  void add(entry_command command) {
    command.leader_time_ms = time_ms_;
    entries_.push_back(
        {raft::term(term_), raft::index(entries_.size() + 1), raft::entry_kind::command, encode(command)});
    pass(7);
  }
  void write(produce_unit unit) {
    entry_command command;
    command.units.push_back(std::move(unit));
    add(std::move(command));
  }
  std::vector<raft::entry> take() { return std::move(entries_); }

 private:
  std::vector<raft::entry> entries_;
  std::uint64_t term_ = 1;
  std::int64_t time_ms_ = 1'750'000'000'000;
};

append_slice slice(std::uint8_t topic, std::int32_t partition, model::batch_options options, std::size_t records = 1,
                   std::int64_t timestamp_ms = 1000) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < records; ++i) values.push_back(fmt::format("{}/{} record {}", topic, partition, i));
  return {partition_of(topic, partition), make_batch(values, options, timestamp_ms)};
}
append_slice plain(std::uint8_t topic, std::int32_t partition) {
  return slice(topic, partition, {});
}
append_slice of(std::int64_t producer, std::int16_t epoch, std::int32_t sequence, std::uint8_t topic,
                std::int32_t partition = 0) {
  return slice(topic, partition, idempotent(producer, epoch, sequence));
}
produce_unit atomic(std::vector<append_slice> slices) {
  const std::size_t count = slices.size();
  return {std::move(slices), count};
}

void topics_come_and_change(script& to) {
  entry_command level;
  level.apply_level = 1;
  to.add(level);
  entry_command made;
  for (std::uint8_t topic = 1; topic <= 3; ++topic) {
    for (std::int32_t p = 0; p < 2; ++p) made.creations.push_back({partition_of(topic, p), topic == 3 ? 5 : 0, 4});
    made.configs.push_back({partition_of(topic, 0).topic, 4, {{"retention.ms", fmt::format("{}", 1000 * topic)}}});
  }
  to.add(made);
  entry_command changed;
  changed.creations.push_back({partition_of(1, 0), 3, 5});                            // is there
  changed.configs.push_back({partition_of(1, 0).topic, 3, {{"retention.ms", "1"}}});  // too old
  changed.configs.push_back({partition_of(2, 0).topic, 6, {}});                       // nothing is set now
  changed.configs.push_back({partition_of(3, 0).topic, 7, {{"cleanup.policy", "compact"}, {"segment.ms", "9"}}});
  changed.configs.push_back({partition_of(9, 0).topic, 7, {{"retention.ms", "1"}}});  // no such topic
  to.add(changed);
}

void producers_write(script& to) {
  for (std::int32_t i = 0; i < 7; ++i) to.write({{of(100, 0, i, 1), of(101, 2, i, 1, 1)}, 0});
  to.write({{of(100, 0, 4, 1)}, 0});                                // a duplicate
  to.write({{of(100, 0, 1, 1)}, 0});                                // too old to be known as one
  to.write({{of(100, 0, 9, 1), of(101, 2, 7, 1, 1)}, 0});           // a gap, alone
  to.write({{of(100, 1, 3, 1)}, 0});                                // a new epoch begins at 0
  to.write({{of(100, 1, 0, 1), of(100, 1, 0, 1)}, 0});              // and its duplicate in the same unit
  to.write({{of(100, 0, 7, 1)}, 0});                                // fenced
  to.write({{plain(9, 0), plain(2, 0)}, 0});                        // no such partition
  to.write({{of(102, 0, 2'147'483'647, 2), of(102, 0, 0, 2)}, 0});  // sequences wrap
  entry_command many;
  many.units.push_back({{plain(1, 0), plain(2, 0)}});
  many.units.push_back({{plain(1, 0), of(103, 0, 0, 3)}});
  many.units.push_back({{of(103, 0, 1, 3), plain(1, 0)}});
  to.add(many);
}

void sets_are_written(script& to) {
  to.write(atomic({of(200, 0, 0, 1), of(200, 0, 0, 2), of(200, 0, 0, 3)}));
  to.write(atomic({of(200, 0, 1, 1), of(200, 0, 5, 2), of(200, 0, 1, 3)}));  // refused: a gap
  to.write(atomic({of(200, 0, 1, 1), of(200, 0, 1, 9)}));                    // refused: no such partition
  to.write(
      atomic({of(200, 0, 1, 1), of(200, 0, 0, 2), of(200, 0, 2, 1)}));  // with a duplicate, and two of one partition
  to.write(atomic({of(201, 0, 0, 1), of(201, 0, 2, 1)}));               // refused: the producer is not known after it
  to.write(atomic({of(200, 3, 0, 1), of(200, 0, 1, 2)}));
  to.write(atomic({of(200, 0, 2, 2), of(200, 2, 1, 1)}));  // refused: fenced
  to.write({{of(202, 0, 0, 1), of(202, 0, 0, 2), plain(9, 0), plain(3, 1)}, 2});
  to.write({{of(202, 0, 1, 1), of(202, 0, 7, 2), plain(3, 1)}, 2});  // the ordinary one is written
}

void batches_of_all_kinds(script& to) {
  for (const auto codec : {model::compression::none, model::compression::gzip, model::compression::snappy,
                           model::compression::lz4, model::compression::zstd}) {
    model::batch_options options;
    options.codec = codec;
    to.write({{slice(2, 1, options, 20, 5000)}, 0});
    options.timestamps = model::timestamp_type::log_append_time;
    to.write({{slice(2, 1, options, 3, to.time_ms())}, 0});
    options = idempotent(300, 0, 3 * static_cast<std::int32_t>(codec));
    options.codec = codec;
    to.write({{slice(3, 1, options, 3, 6000)}, 0});
  }
  model::batch_options timeless;
  to.write({{slice(2, 1, timeless, 1, -1)}, 0});
}

void starts_move_and_producers_go(script& to) {
  entry_command command;
  command.log_starts.push_back({partition_of(1, 0), model::offset(5)});
  command.log_starts.push_back({partition_of(2, 1), model::offset(33)});         // inside a batch
  command.log_starts.push_back({partition_of(1, 1), model::offset(1'000'000)});  // beyond the end
  command.log_starts.push_back({partition_of(9, 0), model::offset(3)});
  to.add(command);
  command.log_starts = {{partition_of(1, 0), model::offset(2)}};  // it never falls
  to.add(command);
  to.pass(day_ms);
  to.write({{of(103, 0, 2, 3)}, 0});
  entry_command expiry;
  const auto ids = [](std::initializer_list<std::int64_t> all) {
    std::vector<model::producer_id> made;
    for (const std::int64_t id : all) made.emplace_back(id);
    return made;
  };
  expiry.expiries.push_back({partition_of(1, 0), to.time_ms() - day_ms, ids({100, 200, 201, 202})});
  expiry.expiries.push_back({partition_of(3, 0), to.time_ms() - day_ms, ids({103, 200})});  // 103 has written since
  expiry.expiries.push_back({partition_of(9, 0), to.time_ms() - day_ms, ids({103})});
  expiry.expiries.push_back({partition_of(1, 1), to.time_ms() - 10 * day_ms, ids({101})});  // is not so old
  expiry.units.push_back({{of(100, 0, 55, 1)}});                                            // anywhere
  expiry.units.push_back({{of(103, 0, 9, 3)}});
  to.add(expiry);
}

void topics_go(script& to) {
  to.lead(4);
  entry_command command;
  command.deletions.push_back({partition_of(2, 0).topic, 20});
  command.creations.push_back({partition_of(4, 0), 0, 21});
  command.creations.push_back({partition_of(1, 2), 0, 12});  // a topic that is there may grow
  command.units.push_back({{plain(2, 0), plain(4, 0)}});
  to.add(command);
  entry_command late;
  late.creations.push_back({partition_of(2, 0), 0, 19});  // a leader that lags
  late.creations.push_back({partition_of(5, 0), 0, 18});
  late.deletions.push_back({partition_of(9, 0).topic, 15});
  to.add(late);
}

// What nobody has thought of: few producers, sequences and topics, so that all verdicts come often.
void at_random(script& to) {
  sim::rng chance(5);
  for (int step = 0; step < 60; ++step) {
    if (step % 20 == 10) to.lead(5 + static_cast<std::uint64_t>(step));
    to.pass(static_cast<std::int64_t>(chance.below(1000)));
    entry_command command;
    for (std::uint64_t units = 1 + chance.below(3); units > 0; --units) {
      produce_unit unit;
      for (std::uint64_t n = 1 + chance.below(4); n > 0; --n) {
        const auto topic = static_cast<std::uint8_t>(std::array{1, 3, 3, 4}[chance.below(4)]);
        const auto partition = static_cast<std::int32_t>(topic == 4 ? 0 : chance.below(2));
        model::batch_options options;
        if (chance.chance(0.8)) {
          options = idempotent(static_cast<std::int64_t>(400 + chance.below(2)),
                               static_cast<std::int16_t>(chance.below(chance.chance(0.1) ? 3 : 1)),
                               static_cast<std::int32_t>(chance.below(4)));
        }
        unit.slices.push_back(slice(topic, partition, options, 1 + chance.below(3)));
      }
      if (chance.chance(0.4)) unit.atomic_slices = 1 + chance.below(unit.slices.size());
      command.units.push_back(std::move(unit));
    }
    if (chance.chance(0.2)) {
      command.expiries.push_back({partition_of(3, static_cast<std::int32_t>(chance.below(2))),
                                  to.time_ms() - static_cast<std::int64_t>(chance.below(3000)),
                                  {model::producer_id(400), model::producer_id(401)}});
    }
    if (chance.chance(0.1)) {
      command.log_starts.push_back({partition_of(3, 0), model::offset(static_cast<std::int64_t>(chance.below(200)))});
    }
    to.add(std::move(command));
  }
}

}  // namespace

std::vector<raft::entry> script_of_level_1() {
  script all;
  all.lead(1);
  topics_come_and_change(all);
  producers_write(all);
  sets_are_written(all);
  all.lead(2);
  batches_of_all_kinds(all);
  starts_move_and_producers_go(all);
  topics_go(all);
  at_random(all);
  return all.take();
}

}  // namespace braidmq::braid::corpus
