// The machine on which the broker runs: a disk that stays, and one life of the broker after the other. A life is the
// whole product from connections down to files: real dispatcher, handlers, broker, write-ahead logs, segments.
//
// What ends a life: a power cut (the disk keeps what its fault model allows), the death of the process (everything
// written is kept), a clean stop, or the broker's own decision after a disk error.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/state_hash.hpp"
#include "multiraft/office.hpp"
#include "raft/types.hpp"
#include "support/sim_file_system.hpp"
#include "world/conditions.hpp"
#include "world/machine_clock.hpp"
#include "world/network.hpp"
#include "world/peer_network.hpp"
#include "world/plants.hpp"
#include "world/random_bytes.hpp"
#include "world/scheduler.hpp"
#include "world/traced_file_system.hpp"

namespace braidmq::sim {

enum class end_of_life { power_cut, process_killed };

struct machine_counters {
  std::uint64_t lives = 0;
  std::uint64_t power_cuts = 0;
  std::uint64_t kills = 0;
  std::uint64_t clean_stops = 0;
  std::uint64_t disk_errors = 0;
  std::uint64_t recoveries_cut_short = 0;
  std::uint64_t state_hashes = 0;  // compared
  std::uint64_t full_disks = 0;
  std::uint64_t pauses = 0;
  std::uint64_t producers_forgotten = 0;  // because they were idle; recoveries included

  std::uint64_t faults() const { return power_cuts + kills + clean_stops + disk_errors + full_disks + pauses; }
};

// The state that the braid had after entries, as any machine told it in any of its lives.
struct state_hash_book {
  std::map<raft::index, hash128> seen;
};

// What a machine shares with the others of its cluster.
struct machine_place {
  std::size_t number = 0;  // and the broker's id, where there are several
  std::size_t machines = 1;
  peer_network& peers;
  state_hash_book& hashes;
  std::uint64_t& links_made;
};

class machine_host {
 public:
  machine_host(scheduler& world, sim_executor& network, const conditions& drawn, plant planted, rng chance,
               machine_place place);
  ~machine_host();

  // Opens and starts the broker. False when power was cut inside of it (as drawn) or when it refused to start, which
  // failure() tells.
  bool start(double crash_in_recovery);
  // Of several brokers one waits for the others before it is one: to be called after each task. False when it refused,
  // which failure() tells, or when power was cut inside of it.
  bool go_on();
  // The same on a disk that has been damaged: words when it refuses.
  std::optional<std::string> start_on_damage();
  void end_life(end_of_life how);
  // `stopped` runs when the broker has stopped by itself; end_life must follow, from outside of any task.
  void stop_cleanly(std::function<void()> stopped);

  bool running() const { return life_ != nullptr; }
  bool ready() const;
  std::string missing() const;
  bool refuses_writes() const;  // the disk is full, or the broker still thinks so
  std::string figures() const;  // for whoever looks for what stands still
  std::uint64_t life_number() const { return counters_.lives; }
  std::size_t number() const { return place_.number; }
  // Who leads, as this broker knows it; none: it does not run.
  std::optional<multiraft::office> braid_office() const;
  std::optional<multiraft::office> metadata_office() const;
  raft::index applied_index() const;  // of the braid; 0: it does not run

  // To be asked after each task: the disk died under the broker, or it gave up.
  bool power_lost() const { return life_ != nullptr && fs_.crashed(); }
  bool gave_up() const;
  std::string fatal_words() const;
  // A disk error was injected into this life.
  bool disk_failed() const { return disk_error_pending_; }
  void clear_disk_failures() { fs_.clear_failures(); }

  // A connection to the running broker. Null when there is none.
  std::shared_ptr<link> connect(sim_executor& client);
  std::vector<std::shared_ptr<link>> open_links();

  // Faults that the running life is to meet.
  void crash_at_operation(std::uint64_t n) { fs_.crash_after(n); }
  void fail_disk_once();
  void toggle_full_disk();
  void end_full_disk();
  void pause(io::duration how_long);
  void go_on_at_once();
  void jump_wall_clock(std::int64_t by_ms) { clock_.jump_wall(by_ms); }
  std::int64_t wall_ms() const { return clock_.wall_ms(); }
  void change_pace();
  void steady_pace();
  // From now on bytes travel at once, on connections that are there too, and messages as they are sent.
  void steady_network();

  sim_file_system& disk() { return fs_; }
  std::vector<std::string> folders() const;  // where the broker keeps its files
  const machine_counters& counters() const { return counters_; }
  // Set when the broker did what no fault explains: it refused to start, or gave up without a reason.
  const std::optional<std::string>& failure() const { return failure_; }

 private:
  struct life;

  status open_broker();
  status open_membership();
  status finish_opening();
  std::unique_ptr<multiraft::transport> wrap_peers(raft::group_id group, multiraft::transport& target);
  void note_state_hash(raft::index index, const hash128& hash);

  scheduler& world_;
  sim_executor& network_;
  const conditions& drawn_;
  machine_place place_;
  network_options network_now_;
  message_faults messages_now_;
  plant planted_;
  rng chance_;
  machine_clock clock_;
  sim_file_system fs_;
  traced_file_system traced_fs_;
  random_bytes random_;
  bool disk_error_pending_ = false;
  bool disk_is_full_ = false;
  machine_counters counters_;
  std::optional<std::string> failure_;
  std::vector<std::weak_ptr<link>> links_;
  std::unique_ptr<life> life_;
};

}  // namespace braidmq::sim
