// Coroutines of the edge (net, server, admin). task<T> is asio's awaitable; everything here needs an executor only, no
// timer and no socket of asio's, so that the same coroutine runs on a shard and, in the simulator, on one polled
// io_context: what waits for time waits through io::timer_service.
//
// Rules, so that every compiler may build us: arguments by value into a coroutine; no lambda with captures as
// coroutine; in a statement with co_await no lambda with captures, no braces and no ternary - name them in a line
// before.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <asio/any_io_executor.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/awaitable.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>

#include "base/check.hpp"
#include "base/unique_function.hpp"
#include "runtime/shard.hpp"

namespace braidmq::runtime {

template <class T>
using task = asio::awaitable<T>;

namespace detail {

// Takes the callback's value to the coroutine's executor and resumes it there.
template <class T, class Handler>
class resumption {
 public:
  resumption(asio::any_io_executor executor, Handler&& handler)
      : executor_(std::move(executor)), handler_(std::move(handler)) {}

  void operator()(T value) {
    BRAID_CHECK(handler_.has_value(), "a callback that a coroutine waits for was called twice");
    Handler handler = std::move(*handler_);
    handler_.reset();
    asio::post(executor_, [handler = std::move(handler), value = std::move(value)]() mutable {
      std::move(handler)(std::move(value));
    });
  }

 private:
  asio::any_io_executor executor_;
  std::optional<Handler> handler_;
};

}  // namespace detail

// Waits for a call that answers by callback: initiate(unique_function<void(T)>) starts it, its T is the value of the
// co_await.
// - The callback may run inside initiate, later, or on another thread: the coroutine always resumes through its own
//   executor, never inside the callback.
// - A callback that is destroyed without a call unwinds the coroutine: locals are destroyed, on its executor, and
//   nothing after the co_await runs. So whoever holds the callback and is itself held by the coroutine (a stream as a
//   local) must be closed from outside, or both live on.
// - initiate must not throw; what it captures by reference must outlive the wait, which locals of the coroutine do.
template <class T, class Initiate>
task<T> await_callback(Initiate initiate) {
  auto start = [](auto handler, Initiate begin) {
    using handler_type = decltype(handler);
    asio::any_io_executor executor = asio::get_associated_executor(handler);
    begin(unique_function<void(T)>(detail::resumption<T, handler_type>(std::move(executor), std::move(handler))));
  };
  return asio::async_initiate<const asio::use_awaitable_t<>, void(T)>(start, asio::use_awaitable, std::move(initiate));
}

// Starts a coroutine that nobody waits for, on its executor and never inside this call. It must handle its errors: an
// exception that leaves it ends the process, with its words. Work that must be over before an object goes holds a
// gate::pass.
void spawn(asio::any_io_executor executor, task<void> work);
void spawn(asio::io_context& on, task<void> work);
void spawn(shard& on, task<void> work);

}  // namespace braidmq::runtime
