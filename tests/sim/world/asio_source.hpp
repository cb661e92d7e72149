// Handlers of coroutines: an asio context as one of the scheduler's sources. Its queue is first in, first out; it is
// polled, and has neither sockets nor timers, so that no real time comes in.
#pragma once

#include <asio/io_context.hpp>

#include "world/scheduler.hpp"

namespace braidmq::sim {

class asio_source final : public task_source {
 public:
  asio_source(scheduler& owner, std::string name) : task_source(owner, std::move(name)) {}

  asio::io_context& context() { return context_; }
  bool ready() override { return maybe_ready_; }
  bool run_one() override {
    maybe_ready_ = context_.poll_one() > 0;
    if (context_.stopped()) context_.restart();
    return maybe_ready_;
  }
  // It cannot be asked whether something was posted to it.
  void note_activity() override { maybe_ready_ = true; }

 private:
  asio::io_context context_{1};
  bool maybe_ready_ = true;
};

}  // namespace braidmq::sim
