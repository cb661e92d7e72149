// The connections of one broker to the others, and what goes over them: messages of Raft groups. To each broker lead
// two connections of our own making, one for appends and one for all else, so that an election does not wait behind
// data; what others open is only read. A connection that ends is made again, after a pause that grows.
//
// What cannot be sent now is dropped: Raft sends again what matters. Memory: each connection bounds what waits
// (channel_limits); connections that others open are bounded in number, until they have proven themselves and
// afterwards.
//
// Threads: all calls and callbacks on the executor of the environment. Errors: none go up; trouble() has words for
// people, and counters are for metrics.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/endpoint.hpp"
#include "io/random.hpp"
#include "peer/channel.hpp"
#include "peer/frame.hpp"
#include "raft/message.hpp"

namespace braidmq::peer {

// Opens a connection; resolves the name each time. `done` runs on the mesh's executor, once, never inside the call.
using connect_function = std::function<void(const io::endpoint& to, io::duration timeout,
                                            unique_function<void(result<std::unique_ptr<io::stream>>)> done)>;

struct mesh_options {
  channel_limits channel;
  std::chrono::milliseconds connect_timeout{2'000};
  std::chrono::milliseconds shortest_pause{50};
  std::chrono::milliseconds longest_pause{2'000};
  std::size_t max_strangers = 64;  // connections of others that have not proven themselves yet
  std::size_t max_of_broker = 8;   // that one broker has opened to us: the oldest make room
};

struct mesh_environment {
  io::executor& executor;
  io::timer_service& timers;
  const io::clock& clock;
  io::random_source& random;
  connect_function connect;
};

// Of one other broker.
struct peer_status {
  bool reachable = false;  // both connections of our own making stand
  bool heard = false;      // one of its making stands
  uuid incarnation;        // as it said when it last proved itself; zero: never
  std::string trouble;     // why it is not reachable; empty: it is, or was not tried yet
};

struct mesh_stats {
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_dropped = 0;  // no connection, or too much waits
  std::uint64_t messages_received = 0;
  std::uint64_t frames_refused = 0;     // could not be read, or were for nobody
  std::uint64_t connections_made = 0;   // that stood after their handshake, of either side
  std::uint64_t strangers_refused = 0;  // there were too many
  std::uint64_t made_room = 0;          // connections that their broker has opened too many of after them
};

class mesh {
 public:
  // `self` says who we are; secrets as they are read from braid.secret.file.
  mesh(mesh_environment environment, identity self, secrets known, mesh_options options = {});
  ~mesh();
  mesh(const mesh&) = delete;
  mesh& operator=(const mesh&) = delete;

  // Another broker is to be reached there: connections are made now, and again whenever they end. Another address takes
  // the place of the one before.
  void set_address(model::broker_id broker, const io::endpoint& at);
  // Messages for a group go to `take`, from whoever proved to be the sender.
  void listen(raft::group_id group, unique_function<void(raft::message)> take);

  // Frames of a kind that is none of Raft's go to `take`, from whom is proven to be the sender.
  void listen(frame_kind kind, unique_function<void(const acquaintance&, const bytes&)> take);
  // `changed` runs when a broker can be sent frames, with who proved to be there, and when it cannot any more, with
  // null. One listener; before the first address.
  void on_reach(unique_function<void(model::broker_id, const acquaintance*)> changed) {
    on_reach_ = std::move(changed);
  }
  // The cluster has been founded: connections that are made from now on say so.
  void set_cluster(const uuid& id) { self_.cluster_id = id; }

  // A frame of a kind that is none of Raft's. False: nothing was sent.
  bool send(model::broker_id to, bytes frame);
  // To message.to, if it is connected in that life.
  void send(raft::group_id group, const raft::message& message);
  // A connection that somebody opened.
  void take(std::unique_ptr<io::stream> stream);

  peer_status status_of(model::broker_id broker) const;
  const mesh_stats& statistics() const { return stats_; }

  // Ends all connections, and makes no more.
  void stop();

 private:
  struct line;  // one connection of our making, and its successors
  struct known_peer;

  static bool is_append(const raft::message& message);
  void make_room(known_peer& of);
  void connect(const std::shared_ptr<line>& of);
  void on_connected(const std::shared_ptr<line>& of, std::unique_ptr<io::stream> stream);
  void on_line_ended(const std::shared_ptr<line>& of, const error& why);
  void on_frame(const acquaintance& from, const bytes& frame);
  raft::node_id own_id() const { return {self_.broker.value(), self_.incarnation}; }

  mesh_environment environment_;
  identity self_;
  secrets secrets_;
  mesh_options options_;
  std::map<model::broker_id, std::unique_ptr<known_peer>> peers_;
  std::map<raft::group_id, unique_function<void(raft::message)>> groups_;
  std::map<frame_kind, unique_function<void(const acquaintance&, const bytes&)>> kinds_;
  unique_function<void(model::broker_id, const acquaintance*)> on_reach_;
  std::map<std::uint64_t, std::shared_ptr<channel>> taken_;  // connections of others
  std::uint64_t last_taken_ = 0;
  std::size_t strangers_ = 0;  // of those
  mesh_stats stats_;
  bool stopped_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace braidmq::peer
