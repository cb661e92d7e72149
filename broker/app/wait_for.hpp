// Inside of app: an admin thread waits for what another thread answers. Never on a shard.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "base/unique_function.hpp"
#include "io/executor.hpp"

namespace braidmq::app {

// Calls start(unique_function<void(T)> done) and waits for the value; none when it does not come in time, or when
// `done` is dropped because its thread has stopped.
template <class T, class Start>
std::optional<T> wait_for(std::chrono::milliseconds timeout, Start start) {
  auto promise = std::make_shared<std::promise<T>>();
  auto future = promise->get_future();
  start(unique_function<void(T)>([promise](T value) { promise->set_value(std::move(value)); }));
  promise.reset();
  if (future.wait_for(timeout) != std::future_status::ready) return std::nullopt;
  try {
    return future.get();
  } catch (const std::future_error&) {
    return std::nullopt;
  }
}

// Runs `copy` on `owner` and waits for its value.
template <class Copy>
auto copy_from(io::executor& owner, std::chrono::milliseconds timeout, Copy copy) {
  using value = decltype(copy());
  return wait_for<value>(timeout, [&owner, &copy](unique_function<void(value)> done) {
    owner.post([copy = std::move(copy), done = std::move(done)]() mutable { done(copy()); });
  });
}

}  // namespace braidmq::app
