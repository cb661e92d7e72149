// Draining: a broker that is about to stop says so, hands over what it leads and takes nothing new to lead. It goes on
// serving what it still leads; a broker that starts is not draining.
//
// Threads: any; `done` runs on the metadata executor and never inside the call.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/result.hpp"
#include "base/unique_function.hpp"
#include "io/clock.hpp"
#include "metadata/controller.hpp"

namespace braidmq::server {

struct drain_state {
  bool draining = false;
  bool last_broker = false;      // nobody is there to take over
  std::int32_t leaderships = 0;  // that are still to be handed over
};

// Hands over what this broker leads. There is none as long as every braid has one replica.
class leadership_transfer {
 public:
  virtual ~leadership_transfer() = default;
  // Leaderships that others could take. Any thread.
  virtual std::int32_t held() const = 0;
  // From now on this broker is not elected any more. Runs `done` when all are handed over, or after `timeout`,
  // whichever comes first; goes on handing over behind that. On the metadata executor.
  virtual void hand_over(io::duration timeout, unique_function<void()> done) = 0;
};

class drain {
 public:
  // `is_alive`: of another broker, from any thread.
  drain(model::broker_id self, metadata::controller& controller, leadership_transfer* transfer,
        std::function<bool(model::broker_id)> is_alive)
      : self_(self), controller_(controller), transfer_(transfer), is_alive_(std::move(is_alive)) {}

  // Answers when nothing is left to hand over or the time is up, and at once on the last broker. May be called again,
  // to wait further. Errors: metadata::errc, when the registration could not be written and others could take over; the
  // broker drains and hands over all the same.
  void begin(io::duration timeout, unique_function<void(result<drain_state>)> done);

  drain_state state() const;

 private:
  model::broker_id self_;
  metadata::controller& controller_;
  leadership_transfer* transfer_;
  std::function<bool(model::broker_id)> is_alive_;
  std::atomic<bool> draining_{false};
};

}  // namespace braidmq::server
