// All machines of a run, the network between them, and what must hold of them together: at most one leader in a term,
// the same state after the same entry. One machine is a cluster too, without a network between brokers.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "history.hpp"
#include "world/machine.hpp"

namespace braidmq::sim {

struct client_connection {
  std::shared_ptr<link> way;  // null: nobody is there
  std::size_t machine = 0;
  std::uint64_t life = 0;
};

class cluster_host {
 public:
  cluster_host(scheduler& world, sim_executor& network, const conditions& drawn, plant planted, rng& chance);

  std::size_t size() const { return machines_.size(); }
  bool is_alone() const { return size() == 1; }
  machine_host& at(std::size_t number) { return *machines_[number]; }
  const std::vector<std::unique_ptr<machine_host>>& machines() const { return machines_; }
  peer_network& peers() { return peers_; }

  bool all_running() const;
  bool all_ready() const;
  bool anyone_refuses_writes() const;
  // One serves, and everybody has applied what it has. Of a cluster at rest.
  bool is_level() const;
  std::optional<std::size_t> leader() const;  // of the braid: who serves in the highest term
  // In which term the broker is, in this life; what `life` is not any more may have been in any until now.
  known_term term_of(std::size_t broker, std::uint64_t life) const;
  std::pair<std::int64_t, std::int64_t> wall_clocks() const;  // the lowest and the highest
  std::string describe() const;                               // what each of them lacks, and figures

  // To `wanted`, if that runs; else to any.
  client_connection connect(sim_executor& client, std::optional<std::size_t> wanted, rng& chance);

  // After each task: who leads. E1.
  void look_at_offices();
  const std::optional<std::string>& failure();

  machine_counters counters() const;
  std::uint64_t terms() const { return terms_.size(); }  // in which somebody led the braid

 private:
  using leaders = std::map<raft::term, raft::node_id>;
  void note(const char* group, leaders& known, const machine_host& machine, const multiraft::office& office);

  std::vector<std::unique_ptr<machine_host>> machines_;
  peer_network peers_;
  state_hash_book hashes_;
  std::uint64_t links_made_ = 0;
  raft::term newest_term_;  // of the braid, that any of them was in
  leaders terms_;
  leaders metadata_terms_;
  std::optional<std::string> failure_;
};

}  // namespace braidmq::sim
