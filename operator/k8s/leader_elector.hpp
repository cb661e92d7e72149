// Runs an election on two threads: one tries and renews, the other only watches the clock, so that a leader whose
// renewal hangs knows in time that it leads no more.
//
// Callbacks come once each at most, on the elector's threads: `on_started` when this process leads (it must return
// soon: the thread that renews waits for it); `on_lost` when it does so no more and did not ask for it. After on_lost
// nothing may be written: a main calls _exit(1) there, so that no destructor does either.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "k8s/election.hpp"
#include "k8s/stop_signal.hpp"

namespace braidmq::k8s {

struct election_figures {
  bool leading = false;
  std::uint64_t lost = 0;
  std::string holder;
  std::string last_error;
};

class leader_elector {
 public:
  struct callbacks {
    std::function<void()> on_started;
    std::function<void(const std::string& why)> on_lost;
  };

  // Errors: those of validate().
  static result<std::unique_ptr<leader_elector>> start(client& api, election_options options, callbacks on,
                                                       const io::clock& clock = io::system_clock());
  ~leader_elector();  // stop()

  // Ends both threads and gives the Lease free. on_lost is not called.
  void stop();
  // No more renewals, without waiting: for an owner that has other things to end before it calls stop(). It goes on
  // leading until the last renewal is over.
  void begin_stop() { stop_.raise(); }

  // By the local clock, from any thread: before a write, because no thread of ours may have run since the Lease was
  // over.
  bool may_write() const { return lost_ == 0 && election_.is_leader(); }

  election_figures read_figures() const;

 private:
  leader_elector(client& api, election_options options, callbacks on, const io::clock& clock);
  void try_and_renew();
  void watch_the_clock();
  void tell_lost(const std::string& why);

  const callbacks on_;
  const io::clock& clock_;
  const io::duration check_period_;
  election election_;
  stop_signal stop_;
  stop_signal started_;
  std::once_flag lost_once_;
  std::atomic<std::uint64_t> lost_{0};
  std::thread renewer_;   // tidy: allow(thread): blocks in requests
  std::thread guardian_;  // tidy: allow(thread): must never block in one
};

}  // namespace braidmq::k8s
