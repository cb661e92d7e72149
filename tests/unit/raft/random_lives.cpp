#include "random_lives.hpp"

#include <random>
#include <vector>

#include "checker.hpp"
#include "support/raft_surgeon.hpp"
#include "words.hpp"

namespace braidmq::raft::test {
namespace {

// How hard a run is, itself drawn: some lose hardly anything, some hardly deliver.
struct weather {
  unsigned deliver, tick, persist, propose, crash, start, partition, heal;
  unsigned loss, doubling, disorder;  // percent
  unsigned short_reign;               // percent of the steps in which a leader crashes that has what others lack
};

class random_lives {
 public:
  random_lives(std::uint64_t seed, plant plant, bool strict)
      : random_(seed), plant_(plant), checker_(strict), cluster_(chance(50) ? 3 : 5, drawn_config(seed), checker_) {
    checker_.watch(cluster_);
    weather_ = {.deliver = 50,
                .tick = 8 + below(12),
                .persist = 10 + below(20),
                .propose = 2 + below(10),
                .crash = below(4),
                .start = 6 + below(8),
                .partition = below(3),
                .heal = 1 + below(4),
                .loss = chance(50) ? below(5) : below(25),
                .doubling = below(15),
                .disorder = chance(50) ? below(10) : below(100),
                .short_reign = 0};
    if (chance(40)) {
      weather_ = {.deliver = 60,
                  .tick = 15,
                  .persist = 25,
                  .propose = 2,
                  .crash = 0,
                  .start = 12,
                  .partition = 0,
                  .heal = 0,
                  .loss = below(5),
                  .doubling = below(5),
                  .disorder = below(30),
                  .short_reign = 5 + below(30)};
    }
    for (replica& r : cluster_.replicas()) {
      pace_.push_back(chance(70) ? 80 : 10 + below(90));
      cluster_.start(r);
    }
  }

  outcome run() {
    anyone().node->campaign();
    for (replica& r : cluster_.replicas()) after(r);
    for (int i = 0; i < 10 && fine() && work_off(); ++i) {
    }
    for (int steps = 250; steps > 0 && fine(); --steps) step();
    outcome result;
    if (fine()) result.ticks_to_heal = heal();
    result.violation = fine() ? stuck_ : checker_.violation();
    result.committed = checker_.committed();
    result.elections = checker_.elections();
    result.reads = checker_.reads_answered();
    return result;
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }
  bool fine() const { return checker_.violation().empty(); }
  replica& anyone() { return cluster_.replicas()[below(static_cast<unsigned>(cluster_.replicas().size()))]; }

  config drawn_config(std::uint64_t seed) {
    config c;
    c.election_ticks = 2 + below(5);
    c.seed = seed;
    if (chance(50)) c.max_append_bytes = 1;
    if (chance(50)) c.keep_bytes = 0;
    if (chance(30)) c.max_in_flight_appends = 2;
    if (chance(20)) c.max_in_flight_bytes = 200;
    return c;
  }

  // The end of its log is durable here, and not on a majority: the situations of figure 8.
  bool has_more_than_others(const replica& leader) {
    const index last = leader.disk.last();
    std::size_t copies = 0;
    for (const replica& r : cluster_.replicas()) copies += r.disk.term_at(last) == leader.disk.term_at(last) ? 1 : 0;
    return copies <= cluster_.replicas().size() / 2;
  }

  void step() {
    const weather& w = weather_;
    unsigned draw = below(w.deliver + w.tick + w.persist + w.propose + w.crash + w.start + w.partition + w.heal + 8);
    const auto is = [&draw](unsigned weight) {
      if (draw < weight) return true;
      draw -= weight;
      return false;
    };
    replica& r = anyone();
    replica* leader = cluster_.leader();
    if (leader == nullptr && r.node && r.node->current_role() == role::follower && chance(15)) {
      r.node->campaign();
      return after(r);
    }
    if (leader != nullptr && chance(w.short_reign) && has_more_than_others(*leader)) return crash(*leader);
    if (is(w.deliver)) {
      for (unsigned letters = 1 + below(8); letters > 0 && fine(); --letters) deliver();
      return;
    }
    if (is(w.start)) return r.node ? (void)0 : cluster_.start(r);
    if (is(w.partition)) return partition();
    if (is(w.heal)) return cluster_.heal();
    if (is(w.tick)) {
      return each(100, [this](replica& one) {
        if (chance(pace_.at(static_cast<std::size_t>(one.id.broker) - 1))) tick(one);
      });
    }
    if (is(w.persist)) return each(50, [this](replica& one) { persist(one); });
    if (is(w.propose)) {
      return leader != nullptr && chance(80) ? propose(*leader) : r.node ? propose(r) : (void)0;
    }
    if (!r.node) return;
    if (is(w.crash)) return crash(leader != nullptr && chance(50) ? *leader : r);
    switch (draw) {
      case 0:
        return ask(leader != nullptr && chance(70) ? *leader : r);
      case 1:
      case 5:
      case 6:
        r.node->campaign();
        break;
      case 2:
        if (chance(50)) break;
        (void)r.node->transfer(chance(50) ? node_id{} : anyone().id);
        break;
      case 3:
        r.node->set_campaigns(chance(90));
        break;
      case 4:
        if (r.node->applied_index() > r.disk.base()) {
          cluster_.compact(r, r.disk.base() + below(r.node->applied_index() - r.disk.base()) + 1);
        }
        break;
      default:
        each(50, [this](replica& one) {
          cluster_.supply(one, chance(3));
          cluster_.snapshot(one, chance(20));
        });
    }
    after(r);
  }

  template <class F>
  void each(unsigned percent, F what) {
    for (replica& r : cluster_.replicas()) {
      if (r.node && fine() && chance(percent)) what(r);
    }
  }

  // What a planted bug does after each event of a node.
  void after(replica& r) {
    if (!r.node) return;
    if (plant_ == plant::none) return cluster_.pump(r);
    if (plant_ == plant::own_vote_early) surgeon::count_own_vote(*r.node);
    if (plant_ == plant::old_terms_counted) surgeon::count_old_terms(*r.node);
    cluster_.pump(r);
    if (plant_ == plant::early_report) {
      auto& [life, reported] = reported_[r.id];
      if (life != r.lives) reported = 0;
      life = r.lives;
      while (reported < r.disk.writes().size()) {
        const disk::write w = r.disk.writes()[reported++];
        r.node->persisted(w.last, w.last_term);
        cluster_.pump(r);
      }
    }
  }

  void tick(replica& r) {
    r.node->tick();
    after(r);
  }

  void persist(replica& r) {
    if (plant_ == plant::early_report) {
      if (!r.disk.is_busy()) return;
      (void)r.disk.complete();
      --reported_[r.id].second;
    } else {
      cluster_.persist(r);
    }
    if (plant_ != plant::none) after(r);
  }

  void propose(replica& r) {
    (void)r.node->propose(bytes::copy_of(std::to_string(next_value_++)));
    after(r);
  }

  void ask(replica& r) {
    const std::uint64_t context = next_value_++;
    if (r.node->read_index(context)) checker_.asked(context);
    after(r);
  }

  void crash(replica& r) {
    cluster_.crash(r);
    if (plant_ == plant::vote_not_persisted) r.disk.forget_vote();
  }

  void partition() {
    std::vector<int> sides;
    const replica* leader = chance(50) ? cluster_.leader() : nullptr;
    for (const replica& r : cluster_.replicas()) {
      sides.push_back(leader != nullptr ? static_cast<int>(&r == leader) : static_cast<int>(below(2)));
    }
    cluster_.partition(std::move(sides));
  }

  void deliver() {
    auto& network = cluster_.network();
    if (network.size() > 300) network.pop_front();
    if (network.empty()) return;
    const auto at = network.begin() + (chance(weather_.disorder) ? below(static_cast<unsigned>(network.size())) : 0);
    const message m = at->message;
    if (!chance(weather_.doubling)) network.erase(at);
    if (chance(weather_.loss)) return;
    replica& to = cluster_.at(m.to);
    cluster_.deliver(m);
    if (plant_ != plant::none) after(to);
  }

  // Everything works again. What is proposed now must be committed everywhere in a bounded time.
  std::uint64_t heal() {
    cluster_.heal();
    for (replica& r : cluster_.replicas()) {
      if (!r.node) cluster_.start(r);
      if (!r.node) return 0;
      r.node->set_campaigns(true);
      cluster_.pump(r);
    }
    index marker;
    term marker_term;
    for (std::uint64_t round = 1; round <= 150 && fine(); ++round) {
      for (replica& r : cluster_.replicas()) tick(r);
      for (int i = 0; i < 40 && fine() && work_off(); ++i) {
      }
      replica* leader = cluster_.leader();
      if (leader == nullptr || !leader->node->serves()) continue;
      if (marker_term != leader->node->current_term()) {
        const auto at = leader->node->propose(bytes::copy_of("marker"));
        if (at) marker = *at, marker_term = leader->node->current_term();
        after(*leader);
        continue;
      }
      bool done = true;
      for (const replica& r : cluster_.replicas()) done = done && r.node->applied_index() >= marker;
      if (done) return round;
    }
    if (!fine()) return 0;
    stuck_ = "no progress after everything healed";
    for (const replica& r : cluster_.replicas()) {
      stuck_ +=
          fmt::format("; {} {} term={} leader={} last={}/{} durable={} commit={}", show(r.id),
                      show(r.node->current_role()), r.node->current_term(), show(r.node->leader()), r.node->last_term(),
                      r.node->last_index(), r.node->persisted_index(), r.node->commit_index());
      for (const progress& p : r.node->peers()) {
        if (r.node->current_role() != role::leader) break;
        stuck_ += fmt::format(" [{} state={} match={} next={}]", show(p.id()), static_cast<int>(p.current()), p.match(),
                              p.next());
      }
    }
    return 0;
  }

  bool work_off() {
    bool busy = false;
    for (std::size_t waiting = cluster_.network().size(); waiting > 0; --waiting) {
      const message m = cluster_.network().front().message;
      cluster_.network().pop_front();
      cluster_.deliver(m);
      if (plant_ != plant::none) after(cluster_.at(m.to));
      busy = true;
    }
    for (replica& r : cluster_.replicas()) {
      while (r.node && r.disk.is_busy() && fine()) persist(r), busy = true;
      while (cluster_.supply(r)) busy = true;
      while (cluster_.snapshot(r)) busy = true;
    }
    return busy;
  }

  std::mt19937_64 random_;
  plant plant_;
  checker checker_;
  cluster cluster_;
  weather weather_{};
  // early_report: of a life, the writes under way that have been reported.
  std::map<node_id, std::pair<std::uint64_t, std::size_t>> reported_;
  std::vector<unsigned> pace_;  // of each node: percent of the ticks that come to it
  std::uint64_t next_value_ = 1;
  std::string stuck_;
};

}  // namespace

outcome run_random_lives(std::uint64_t seed, plant plant, bool strict) {
  return random_lives(seed, plant, strict).run();
}

}  // namespace braidmq::raft::test
