// Commands of the metadata log that this broker sends to the leader of the quorum, and those that it takes from others
// when it leads. Over the mesh of the metadata quorum; what waits for an answer is bounded by count, bytes and time.
//
// Threads: everything on the metadata executor.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "io/executor.hpp"
#include "io/timers.hpp"
#include "metadata/leader_link.hpp"
#include "peer/mesh.hpp"

namespace braidmq::server {

class metadata_forwarding final : public metadata::leader_link {
 public:
  // What the leader does with a command that came from another broker.
  using take_proposal = unique_function<void(bytes command, unique_function<void(result<metadata::proposed>)> done)>;

  static constexpr std::size_t max_waiting = 1'024;
  static constexpr std::size_t max_waiting_bytes = 16U << 20U;

  metadata_forwarding(peer::mesh& mesh, io::executor& owner, io::timer_service& timers);
  ~metadata_forwarding() override;

  // Begins to take commands of others.
  void listen(take_proposal take);
  void propose(const raft::node_id& leader, bytes command, io::duration timeout,
               unique_function<void(result<metadata::proposed>)> done) override;
  // It cannot be reached any more: of what it was sent nothing is known.
  void gone(model::broker_id broker);

 private:
  struct waiting {
    raft::node_id leader;
    std::size_t bytes = 0;
    io::timer_id timer;
    unique_function<void(result<metadata::proposed>)> done;
  };

  void on_proposal(const peer::acquaintance& from, const bytes& frame);
  void on_proposed(const peer::acquaintance& from, const bytes& frame);
  void finish(std::uint64_t id, result<metadata::proposed> outcome);

  peer::mesh& mesh_;
  io::executor& owner_;
  io::timer_service& timers_;
  take_proposal take_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace braidmq::server
