#include "runtime/gate.hpp"

#include <utility>

namespace braidmq::runtime {

gate::pass& gate::pass::operator=(pass&& other) noexcept {
  if (this != &other) {
    leave();
    state_ = std::move(other.state_);
  }
  return *this;
}

void gate::pass::leave() {
  const auto of = std::exchange(state_, nullptr);
  if (of == nullptr) return;
  BRAID_CHECK(of->inside > 0);
  --of->inside;
  if (of->inside == 0 && of->closed && of->on_empty) std::exchange(of->on_empty, nullptr)();
}

std::optional<gate::pass> gate::enter() {
  if (state_->closed) return std::nullopt;
  return pass(state_);
}

void gate::close(unique_function<void()> on_empty) {
  state_->closed = true;
  if (state_->inside == 0) {
    if (on_empty) on_empty();
    return;
  }
  state_->on_empty = std::move(on_empty);
}

}  // namespace braidmq::runtime
