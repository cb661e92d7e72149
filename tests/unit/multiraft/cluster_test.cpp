// Three voters, each with a WAL on a disk of its own, over a network that loses, doubles and reorders; processes are
// killed and lose their power. What one state machine has applied at an index no other ever has otherwise; what was
// acknowledged is there in the end; a read sees what was acknowledged before it.
#include <array>
#include <deque>
#include <map>

#include <gtest/gtest.h>

#include "fixture.hpp"

namespace braidmq::multiraft::test {
namespace {

constexpr std::size_t members = 3;
constexpr io::duration tick = std::chrono::milliseconds(50);

raft::node_id voter(std::size_t number) {
  raft::node_id id{static_cast<std::int32_t>(number), {}};
  id.incarnation.octets.fill(static_cast<std::uint8_t>(0x40 + number));
  return id;
}

class cluster {
 public:
  explicit cluster(std::uint64_t seed) : chance_(seed), seed_(seed) {
    for (std::size_t i = 0; i < members; ++i) {
      all_[i].fs.emplace(seed * members + i);
      EXPECT_TRUE(all_[i].fs->make_directories("/wal"));
      all_[i].wire.of = this;
    }
  }
  ~cluster() {
    for (member& one : all_) one.group.reset();
  }

  void start(std::size_t which) {
    member& one = all_[which];
    one.process.emplace(*one.fs, chance_(), 30'000);
    ASSERT_TRUE(one.process->wal);
    one.machine.emplace();
    one.machine->on_apply = [this, which](const raft::entry& entry) { note(which, entry); };
    group_options options;
    options.id = raft::group_id(1);
    options.raft.self = voter(which);
    for (std::size_t i = 0; i < members; ++i) options.raft.voters.push_back(voter(i));
    options.raft.seed = chance_();
    options.raft.keep_bytes = chance_.chance(0.5) ? 0 : 2000;
    options.raft.max_append_bytes = 500;
    options.peers = &one.wire;
    options.tick_interval = tick;
    options.slice_entries = 1 + chance_.below(5);
    options.read_chunk_bytes = 1 + chance_.below(3000);
    options.max_unapplied_bytes = 3000;
    one.group = one.process->make(*one.machine, options);
    ASSERT_NE(one.group, nullptr) << one.process->refused->to_string();
    one.group->start();
  }

  // The process is gone, and perhaps the power, too.
  void end(std::size_t which, bool power_cut) {
    member& one = all_[which];
    one.group.reset();
    one.process.reset();
    if (power_cut) {
      sim::rng chance = chance_.split();
      one.fs->power_cut(chance);
    } else {
      one.fs->kill_process();
    }
  }

  void work(int steps, bool faulty) {
    for (int i = 0; i < steps; ++i) {
      const std::size_t which = chance_.below(members);
      member& one = all_[which];
      if (faulty && one.group && chance_.chance(0.002)) end(which, chance_.chance(0.6));
      if (!one.group) {
        if (which != down_ && (!faulty || chance_.chance(0.02))) start(which);
        if (::testing::Test::HasFatalFailure()) return;
        continue;
      }
      ASSERT_EQ(one.process->fatal_calls, 0) << one.process->fatal->to_string();
      if (chance_.chance(0.1)) propose(which);
      if (chance_.chance(0.02)) read(which);
      if (faulty && chance_.chance(0.002)) static_cast<void>(one.group->transfer());
      if (faulty && chance_.chance(0.05)) one.machine->open = !one.machine->open;
      if (!faulty) one.machine->open = true;
      if (one.machine->open) one.group->resume();
      if (chance_.chance(0.05)) one.process->timers.advance(tick);
      for (std::uint64_t n = chance_.below(6); n > 0; --n) static_cast<void>(one.process->loop.run_one());
      deliver(faulty);
      if (chance_.chance(0.0005)) cut_ = {chance_.below(members), chance_.below(members)};
      if (!faulty) cut_ = {};
    }
  }

  // Everybody runs, and everything arrives: soon all have the same, and one of them serves.
  void heal() {
    for (int round = 0; round < 400; ++round) {
      work(50, false);
      if (::testing::Test::HasFatalFailure()) return;
      if (is_whole()) return;
    }
    for (std::size_t i = 0; i < members; ++i) {
      const raft::node& node = all_[i].group->node();
      ADD_FAILURE() << fmt::format("{}: role {} term {} last {} commit {} applied {}", i,
                                   static_cast<int>(node.current_role()), node.current_term(), node.last_index(),
                                   node.commit_index(), node.applied_index());
    }
  }

  void check_end() const {
    for (const member& one : all_) {
      ASSERT_GE(one.machine->last, highest_acked_);
    }
    for (const auto& [index, text] : acked_) {
      ASSERT_EQ(truth_.at(index), text) << "seed " << seed_ << ": acknowledged at " << index.value();
    }
  }

  // Which one leads and serves, when one does.
  std::size_t wait_for_leader() {
    for (int round = 0; round < 400; ++round) {
      work(20, false);
      for (std::size_t i = 0; i < members; ++i) {
        if (all_[i].group && all_[i].group->node().serves()) return i;
      }
    }
    ADD_FAILURE() << "nobody leads";
    return 0;
  }
  void keep_down(std::size_t which) { down_ = which; }

  // Storage of all that run lets go of everything that they have applied.
  void compact() {
    for (member& one : all_) {
      if (!one.group) continue;
      one.process->wal->release(raft::group_id(1), one.machine->last + 1);
      one.group->compacted(one.machine->last);
    }
  }
  recorder& machine(std::size_t which) { return *all_[which].machine; }
  group& group_of(std::size_t which) { return *all_[which].group; }

  std::size_t acknowledged() const { return acked_.size(); }
  int reads_answered() const { return reads_answered_; }

 private:
  struct wire final : transport {
    void send(raft::group_id, raft::message message) override { of->flying_.push_back(std::move(message)); }
    cluster* of = nullptr;
  };
  struct member {
    std::optional<sim::sim_file_system> fs;
    std::optional<test::process> process;
    std::optional<recorder> machine;
    std::unique_ptr<multiraft::group> group;
    cluster::wire wire;
  };

  static std::string text_of(const raft::entry& entry) {
    return entry.kind == raft::entry_kind::noop ? fmt::format("noop {}", entry.term)
                                                : std::string(as_string_view(entry.payload));
  }

  void note(std::size_t which, const raft::entry& entry) {
    const std::string text = text_of(entry);
    const auto [known, is_new] = truth_.try_emplace(entry.index, text);
    ASSERT_EQ(known->second, text) << "seed " << seed_ << ": voter " << which << " has applied another entry "
                                   << entry.index.value();
    // An answer leaves when the proposer has applied its own entry in its own term.
    const auto proposed = proposed_.find({which, entry.index});
    if (proposed == proposed_.end()) return;
    if (proposed->second == std::pair(entry.term, text)) {
      acked_.emplace(entry.index, text);
      highest_acked_ = std::max(highest_acked_, entry.index);
    }
    proposed_.erase(proposed);
  }

  void propose(std::size_t which) {
    const std::string text = fmt::format("{}{}", ++number_, std::string(chance_.below(300), '-'));
    const auto index = all_[which].group->propose(bytes::copy_of(text));
    if (index) proposed_[{which, *index}] = {all_[which].group->node().current_term(), text};
  }

  void read(std::size_t which) {
    const raft::index before = highest_acked_;
    all_[which].group->read_index([this, before](result<raft::index> got) {
      if (!got) return;
      ++reads_answered_;
      EXPECT_GE(*got, before) << "seed " << seed_ << ": a read misses what was acknowledged before it";
    });
  }

  void deliver(bool faulty) {
    for (std::uint64_t n = chance_.below(4); n > 0 && !flying_.empty(); --n) {
      const auto at = flying_.begin() + static_cast<std::ptrdiff_t>(faulty ? chance_.below(flying_.size()) : 0);
      raft::message message = std::move(*at);
      flying_.erase(at);
      if (faulty && chance_.chance(0.03)) continue;
      if (faulty && chance_.chance(0.03)) flying_.push_back(message);
      const auto from = static_cast<std::size_t>(message.from.broker);
      const auto to = static_cast<std::size_t>(message.to.broker);
      if (from != to && cut_ == std::pair(from, to)) continue;
      if (all_[to].group) all_[to].group->step(std::move(message));
    }
    // What nobody takes in time is lost, as a full queue loses it.
    while (flying_.size() > 2000) flying_.erase(flying_.begin());
  }

  bool is_whole() const {
    bool serves = false;
    for (const member& one : all_) {
      if (!one.group || one.machine->last != all_[0].machine->last) return false;
      if (one.machine->last != one.group->node().last_index()) return false;
      serves = serves || one.group->node().serves();
    }
    return serves && all_[0].machine->last >= highest_acked_;
  }

  sim::rng chance_;
  const std::uint64_t seed_;
  std::array<member, members> all_;
  std::deque<raft::message> flying_;
  std::pair<std::size_t, std::size_t> cut_;  // of this way nothing arrives; equal: none
  std::size_t down_ = members;               // this one is not started
  int number_ = 0;
  std::map<raft::index, std::string> truth_;  // what somebody has applied
  std::map<raft::index, std::string> acked_;
  raft::index highest_acked_;
  std::map<std::pair<std::size_t, raft::index>, std::pair<raft::term, std::string>> proposed_;
  int reads_answered_ = 0;
};

TEST(GroupCluster, ThreeVotersAgreeWhateverHappens) {
  std::size_t acknowledged = 0;
  int reads = 0;
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    SCOPED_TRACE(seed);
    cluster of(seed);
    for (std::size_t i = 0; i < members; ++i) of.start(i);
    of.work(6'000, true);
    if (HasFailure()) return;
    of.heal();
    if (HasFailure()) return;
    of.check_end();
    if (HasFailure()) return;
    acknowledged += of.acknowledged();
    reads += of.reads_answered();
  }
  EXPECT_GT(acknowledged, 500U);
  EXPECT_GT(reads, 50);
}

TEST(GroupCluster, WhoLacksWhatTheLogHasLetGoOfNeedsASnapshot) {
  cluster of(3);
  for (std::size_t i = 0; i < members; ++i) of.start(i);
  std::size_t leader = of.wait_for_leader();
  const std::size_t behind = (leader + 1) % members;
  of.end(behind, false);
  of.keep_down(behind);
  const raft::index before = of.machine(leader).last;
  while (of.machine(leader).last < before + 40 && !HasFailure()) of.work(50, false);
  of.compact();
  of.keep_down(members);
  for (int i = 0; i < 40; ++i) of.work(100, false);
  leader = of.wait_for_leader();
  EXPECT_GE(of.machine(leader).snapshots.size(), 2U) << "said again as long as it is so";
  for (const raft::node_id& peer : of.machine(leader).snapshots) EXPECT_EQ(peer, voter(behind));
  EXPECT_LT(of.machine(behind).last, before + 40);
}

TEST(GroupCluster, AnOfficeIsHandedOver) {
  cluster of(5);
  for (std::size_t i = 0; i < members; ++i) of.start(i);
  const std::size_t first = of.wait_for_leader();
  const raft::term term = of.group_of(first).node().current_term();
  of.group_of(first).set_campaigns(false);
  ASSERT_TRUE(of.group_of(first).transfer());
  EXPECT_EQ(of.group_of(first).propose(bytes::copy_of("x")).error().code, errc::transferring);
  std::size_t second = first;
  for (int i = 0; i < 400 && second == first && !HasFailure(); ++i) second = of.wait_for_leader();
  EXPECT_NE(second, first);
  EXPECT_EQ(of.group_of(second).node().current_term(), term + 1) << "by one election, without a timeout";
}

}  // namespace
}  // namespace braidmq::multiraft::test
