// Who this broker is and who else is of its cluster: the life that its folders carry, the founding that they know of,
// and the connections to the other voters, one mesh for the metadata quorum and one for the braids. It is there before
// the broker: a cluster of several voters has to be born first (peer/birth.hpp), and until then nothing has voters.
//
// Threads: open() and the destructor by the owner, when the executors do not run or have run dry; what has an executor
// of its own says so; the rest from any thread. Errors: those of storage::data_folders, folder_errc::mixed.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/clock.hpp"
#include "io/executor.hpp"
#include "io/file_system.hpp"
#include "io/random.hpp"
#include "io/timers.hpp"
#include "multiraft/group.hpp"
#include "peer/birth.hpp"
#include "peer/mesh.hpp"
#include "storage/data_folder.hpp"

namespace braidmq::server {

// A voter, and where it is reached.
struct voter_address {
  model::broker_id broker;
  io::endpoint metadata;
  io::endpoint braid;
};

struct membership_options {
  model::broker_id id{0};
  std::string data_dir;
  std::string wal_dir;
  std::optional<uuid> cluster_id;     // none: the founder draws one
  bool may_found = true;              // no: this broker belongs to a cluster that exists (braid.bootstrap)
  std::vector<voter_address> voters;  // this broker among them; none or one: it is a cluster of its own
  std::vector<std::string> secrets;   // of braid.secret.file; needed with more than one voter
  std::int16_t newest_apply_level = 0;
  peer::mesh_options mesh;
  std::chrono::milliseconds tell_interval{500};  // of the founding, until it is over
};

struct membership_environment {
  io::file_system& fs;
  io::random_source& random;
  const io::clock& clock;
  io::executor& metadata;
  io::timer_service& metadata_timers;
  peer::connect_function connect_metadata;
  io::executor& braid;
  io::timer_service& braid_timers;
  peer::connect_function connect_braid;
  io::executor& metadata_disk;  // may block
};

class membership {
 public:
  // Blocking: formats or opens the folders, reads what they know of a founding. `on_fatal` is told at most once, on the
  // metadata executor, when the founding cannot be written down.
  static result<std::unique_ptr<membership>> open(membership_options options, membership_environment environment,
                                                  unique_function<void(error)> on_fatal);
  ~membership();

  // Connects to the other voters; `born` runs on the metadata executor, once, when voters() and cluster_id() are there.
  void start(unique_function<void()> born);
  // End the connections, each on its executor; `born` does not run any more after the first.
  void stop_metadata();
  void stop_braid();

  bool is_born() const { return born_.load(std::memory_order_acquire); }
  // Why it is not born yet, for people; empty once it is.
  std::vector<std::string> waits_for() const;

  const uuid& incarnation() const { return folders_.incarnation(); }
  model::broker_id id() const { return options_.id; }
  // Once it is born.
  const std::vector<raft::node_id>& voters() const { return founding_.voters; }
  const std::optional<uuid>& cluster_id() const { return options_.cluster_id; }  // none: one voter, and none configured
  bool may_found() const { return options_.may_found; }
  bool is_alone() const { return options_.voters.size() <= 1; }

  // Whether the voter, in the life that the founding knows, can be sent messages of the metadata quorum now; of this
  // broker always.
  bool is_reachable(model::broker_id broker) const;

  // A connection that another broker has opened to one of the two ports. On that port's executor.
  void take_metadata(std::unique_ptr<io::stream> stream);
  void take_braid(std::unique_ptr<io::stream> stream);

  // Null with one voter. To be used on their executor; they end with this object.
  multiraft::transport* metadata_transport();
  multiraft::transport* braid_transport();
  // Messages of a group of the metadata quorum, or of a braid, from here on. On that executor.
  void listen_metadata(raft::group_id group, unique_function<void(raft::message)> take);
  void listen_braid(raft::group_id group, unique_function<void(raft::message)> take);
  // Not with one voter. On their executor.
  peer::mesh& metadata_mesh() { return *metadata_mesh_; }
  peer::mesh& braid_mesh() { return *braid_mesh_; }
  // `changed` hears when a voter can be sent messages of the metadata quorum, and when it cannot any more. On the
  // metadata executor, before or after the start; any number of listeners.
  void on_reach(unique_function<void(model::broker_id, bool)> changed) { on_reach_.push_back(std::move(changed)); }
  // `changed` hears of the newest apply level that each voter has proven to know, on the braid's executor. Before the
  // braid's executor runs, or on it.
  void on_apply_level(unique_function<void(const raft::node_id&, std::int16_t)> changed);

 private:
  class mesh_transport;

  membership(membership_options options, membership_environment environment, unique_function<void(error)> on_fatal,
             storage::data_folders folders);

  status look_for_founding();
  peer::identity identity() const;
  void make_braid_mesh();
  bool may_be_voter(const raft::node_id& life) const;
  void run(peer::birth::step step);
  void write_down(const peer::birth_state& state);
  void tell_all();
  void tell_now_and_then();
  void note_words();
  void end_birth();

  membership_options options_;
  membership_environment environment_;
  unique_function<void(error)> on_fatal_;
  storage::data_folders folders_;
  std::string founding_path_;
  peer::birth_state durable_;  // at the start
  peer::founding founding_;
  std::atomic<bool> born_{false};
  std::unique_ptr<std::atomic<bool>[]> reachable_;  // by place in options_.voters

  std::optional<peer::birth> birth_;  // the metadata executor's, as all that follows to the meshes
  unique_function<void()> on_born_;
  std::vector<unique_function<void(model::broker_id, bool)>> on_reach_;
  io::timer_id tell_timer_{0};
  bool stopped_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>();  // for writes that outlive this object
  std::unique_ptr<peer::mesh> metadata_mesh_;
  std::unique_ptr<peer::mesh> braid_mesh_;  // the braid executor's
  std::unique_ptr<mesh_transport> metadata_transport_;
  std::unique_ptr<mesh_transport> braid_transport_;
  unique_function<void(const raft::node_id&, std::int16_t)> on_apply_level_;  // likewise

  mutable std::mutex words_mutex_;  // guards words_ alone
  std::vector<std::string> words_;
};

}  // namespace braidmq::server
