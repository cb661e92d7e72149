// The network between brokers. A connection carries bytes in pieces of any size, late; it may be cut at any byte, and
// it may stall: each direction between two machines by itself, so that a machine can be heard and not hear. What stalls
// is not lost, as with TCP: it comes when the network heals, unless the connection has ended by then.
//
// A machine whose power goes says nothing to the others. They learn of it when it is there again, or never.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "io/endpoint.hpp"
#include "io/stream.hpp"
#include "peer/mesh.hpp"
#include "world/network.hpp"
#include "world/scheduler.hpp"

namespace braidmq::sim {

constexpr std::uint16_t metadata_peer_port = 9095;
constexpr std::uint16_t braid_peer_port = 9094;

// Where a machine is reached by the others.
io::endpoint peer_endpoint(std::size_t machine, std::uint16_t port);

class peer_link;

// One life of one machine on the network. Its executors must outlive it.
struct peer_host {
  struct port {
    sim_executor* executor = nullptr;
    std::function<void(std::unique_ptr<io::stream>)> take;
  };
  std::size_t machine = 0;
  port metadata;
  port braid;
};

struct peer_network_counters {
  std::uint64_t connections = 0;
  std::uint64_t refused = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t stalls = 0;  // of a direction
};

class peer_network {
 public:
  peer_network(scheduler& world, sim_executor& network, rng chance, network_options options)
      : world_(world), network_(network), chance_(chance), options_(options) {}

  void add(const std::shared_ptr<peer_host>& life);
  // The end of a life. In silence: the others are told nothing.
  void remove(const std::shared_ptr<peer_host>& life, bool in_silence);
  // For connections that a machine opens; `executor` is of its life.
  peer::connect_function connect_from(const std::shared_ptr<peer_host>& life, sim_executor& executor);

  // Bytes from one machine to another stand still, or go on.
  void stall(std::size_t from, std::size_t to);
  void heal();
  bool is_stalled(std::size_t from, std::size_t to) const { return stalled_.contains({from, to}); }
  bool is_whole() const { return stalled_.empty(); }
  void cut_one();
  void steady();  // without delays from now on

  const peer_network_counters& counters() const { return counters_; }

 private:
  friend class peer_link;
  using done_callback = std::shared_ptr<unique_function<void(result<std::unique_ptr<io::stream>>)>>;

  void arrive(const std::weak_ptr<peer_host>& from, sim_executor& executor, const io::endpoint& to,
              io::time_point deadline, const done_callback& done);
  std::vector<std::shared_ptr<peer_link>> open_links();

  scheduler& world_;
  sim_executor& network_;
  rng chance_;
  network_options options_;
  std::set<std::pair<std::size_t, std::size_t>> stalled_;
  std::vector<std::shared_ptr<peer_host>> hosts_;
  std::vector<std::weak_ptr<peer_link>> links_;
  peer_network_counters counters_;
};

}  // namespace braidmq::sim
