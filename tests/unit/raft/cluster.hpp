// Some nodes, their disks, and a network that does nothing by itself: messages wait until somebody delivers, doubles or
// drops them, in any order. Everything a node asks for is carried out or queued by pump(); committed entries count as
// applied at once. An observer sees each step.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "disk.hpp"
#include "raft/node.hpp"

namespace braidmq::raft::test {

struct replica {
  node_id id;
  test::disk disk;
  std::optional<raft::node> node;  // none: not running
  std::vector<entry> view;         // the log as this life's driver has seen it, durable or not
  std::deque<entries_request> wanted;
  std::deque<node_id> snapshots_wanted;
  std::uint64_t lives = 0;
};

struct letter {
  std::uint64_t id = 0;
  raft::message message;
};

class observer {
 public:
  virtual ~observer() = default;
  virtual void saw(const replica& /*who*/, const ready& /*what*/) {}
  virtual void sends(const replica& /*who*/, const letter& /*what*/, bool /*cut_off*/) {}
  // It cannot start from what it has.
  virtual void refused(const replica& /*who*/, const error& /*why*/) {}
  // After every event of a node, when all its readies are taken.
  virtual void settled(const replica& /*who*/) {}
};

class cluster {
 public:
  cluster(std::size_t count, config base, observer& observer);

  std::vector<replica>& replicas() { return replicas_; }
  replica& at(std::size_t number) { return replicas_.at(number - 1); }
  replica& at(const node_id& id);  // by its broker, whatever the life
  std::deque<letter>& network() { return network_; }
  // The running leader of the highest term, if there is one.
  replica* leader();

  void start(replica& r);
  void crash(replica& r);
  // The oldest write is done and reported. False when there is none.
  bool persist(replica& r);
  // The oldest request for entries is answered from the disk, or with "gone". False when there is none.
  bool supply(replica& r, bool gone = false);
  // The oldest wanted snapshot reaches its peer, which starts anew from it; or it fails.
  bool snapshot(replica& r, bool fails = false);
  void compact(replica& r, index through);
  // Effects come out at once, or with the next pump().
  void deliver(const raft::message& message, bool at_once = true);
  // Nodes of different sides do not hear each other; what is under way between them is lost.
  void partition(std::vector<int> side_of);
  void heal();
  void pump(replica& r);

 private:
  bool is_cut_off(const node_id& a, const node_id& b);

  config base_;
  observer& observer_;
  std::vector<replica> replicas_;
  std::vector<int> side_of_;
  std::deque<letter> network_;
  std::uint64_t next_letter_ = 1;
};

}  // namespace braidmq::raft::test
