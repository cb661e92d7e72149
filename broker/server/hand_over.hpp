// What a broker leads, and how it lets others lead it: its braid and the quorum of the metadata log.
#pragma once

#include <list>
#include <memory>
#include <optional>

#include "braid/replica.hpp"
#include "io/executor.hpp"
#include "io/timers.hpp"
#include "metadata/controller.hpp"
#include "server/drain.hpp"

namespace braidmq::server {

// Threads: as leadership_transfer says. What is asked for while a hand-over is under way waits for the same one, each
// for its own time.
class office_transfer final : public leadership_transfer {
 public:
  office_transfer(model::broker_id self, braid::replica& braid, io::executor& braid_executor,
                  metadata::controller& controller, io::executor& metadata, io::timer_service& metadata_timers)
      : self_(self),
        braid_(braid),
        braid_executor_(braid_executor),
        controller_(controller),
        metadata_(metadata),
        timers_(metadata_timers) {}
  ~office_transfer() override;

  std::int32_t held() const override;
  // On the metadata executor.
  void hand_over(io::duration timeout, unique_function<void()> done) override;
  // Answers whoever waits, on the metadata executor; hands over nothing any more.
  void stop();

 private:
  struct waiter {
    io::timer_id timer;
    unique_function<void()> done;
  };

  void begin(io::duration timeout);
  void one_done();
  void answer_all();

  model::broker_id self_;
  braid::replica& braid_;
  io::executor& braid_executor_;
  metadata::controller& controller_;
  io::executor& metadata_;
  io::timer_service& timers_;
  std::list<waiter> waiters_;
  int under_way_ = 0;                 // of the two groups
  std::optional<io::duration> next_;  // asked for meanwhile: the longest time that somebody gives it
  bool stopped_ = false;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

}  // namespace braidmq::server
