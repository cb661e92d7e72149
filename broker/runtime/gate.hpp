// Guards the end of a component: as long as the gate is open, work may enter; once closed, nothing new enters, and a
// callback runs when the last one inside has left. One owner, one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "base/unique_function.hpp"

namespace braidmq::runtime {

class gate {
  struct state {
    std::size_t inside = 0;
    bool closed = false;
    unique_function<void()> on_empty;
  };

 public:
  // One piece of work inside the gate; leaves when destroyed. May outlive the gate.
  class pass {
   public:
    pass(pass&& other) noexcept = default;
    pass& operator=(pass&& other) noexcept;
    ~pass() { leave(); }

   private:
    friend class gate;
    explicit pass(std::shared_ptr<state> of) : state_(std::move(of)) { ++state_->inside; }
    void leave();

    std::shared_ptr<state> state_;
  };

  // Nothing when the gate is closed: the caller refuses the work.
  std::optional<pass> enter();

  // `on_empty` runs when nothing is inside any more: inside this call when nothing is. A second close replaces the
  // callback of the first.
  void close(unique_function<void()> on_empty);

  bool closed() const { return state_->closed; }
  std::size_t inside() const { return state_->inside; }

 private:
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

}  // namespace braidmq::runtime
