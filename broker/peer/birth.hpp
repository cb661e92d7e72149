// How a cluster of several brokers comes into being, once. The initial voters are named by configuration, but only
// their lives (incarnations) can vote. So the first start needs all of them at once: the one with the lowest id, the
// founder, writes down a cluster id and everybody's life; each of the others writes down the same; when the founder
// knows that all have, the cluster is born, and every later start needs a majority only.
//
// Why there are never two: a life prepares one founding in all its time and lets go of it by being emptied alone, and a
// cluster is born only when each voter, in the life that it names, has prepared it. Two foundings that are born share
// no life: then every folder of the first one was emptied.
//
// Each broker tells the others its durable state when they meet, when it changes, and now and then. Reports may be
// lost, doubled and late. Pure: events in, effects out. Single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/uuid.hpp"
#include "io/random.hpp"
#include "model/ids.hpp"
#include "raft/types.hpp"

namespace braidmq::peer {

struct founding {
  uuid cluster_id;
  std::vector<raft::node_id> voters;  // by rising id

  friend bool operator==(const founding&, const founding&) = default;
};

// What a broker keeps on disk of it, and tells others.
struct birth_state {
  std::optional<founding> record;  // prepared
  bool born = false;               // all voters have prepared it

  friend bool operator==(const birth_state&, const birth_state&) = default;
};

struct birth_config {
  raft::node_id self;
  std::vector<model::broker_id> voters;  // initial ones, this broker among them
  std::optional<uuid> cluster_id;        // none: a new one is drawn
  bool may_found = true;                 // no: the cluster exists, and what is prepared anew would be another one
};

class birth {
 public:
  struct step {
    std::optional<birth_state> persist;  // durably; then persisted() is owed
    bool tell = false;                   // everybody: durable() is news
    bool born = false;                   // durable().record may be started; once
  };

  birth(birth_config config, birth_state durable, io::random_source& random);

  step start();
  // A voter's report. `from` is proven by its connection.
  step heard(const raft::node_id& from, const birth_state& theirs);
  // It cannot be reached any more.
  void gone(model::broker_id broker);
  step persisted();

  const birth_state& durable() const { return durable_; }
  // Why it is not born yet, for people: who is missing, or what is wrong and what to do. Empty once it is born.
  std::vector<std::string> waits_for() const;

 private:
  struct report {
    raft::node_id from;
    birth_state state;
  };

  step evaluate();
  std::optional<birth_state> next() const;
  std::optional<birth_state> next_of_founder() const;
  std::optional<birth_state> next_of_other() const;
  bool is_founder() const { return config_.self.broker == config_.voters.front().value(); }
  const report* report_of(model::broker_id broker) const;
  bool names_own_life(const founding& record) const;
  std::string trouble_with(const report& of) const;

  birth_config config_;
  uuid drawn_;  // the cluster id that this founder would give
  birth_state durable_;
  std::optional<birth_state> pending_;
  std::map<std::int32_t, report> reports_;  // the last one of each other voter, while it can be reached
  bool told_born_ = false;
};

}  // namespace braidmq::peer
