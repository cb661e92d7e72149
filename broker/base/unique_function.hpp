// A move-only callable (std::move_only_function comes with C++23). Calling an empty one is a broken invariant.
// A small callable, as most are that a request leaves behind on its way, lies inside and costs no allocation.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "base/check.hpp"

namespace braidmq {

template <class Signature>
class unique_function;

template <class R, class... Args>
class unique_function<R(Args...)> {
 public:
  unique_function() = default;
  unique_function(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): like std::function

  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, unique_function> && std::is_invocable_r_v<R, F&, Args...>)
  unique_function(F&& callable)  // NOLINT(google-explicit-constructor): like std::function
      : actions_(&actions_of<std::decay_t<F>>) {
    using stored = std::decay_t<F>;
    if constexpr (fits_inside<stored>) {
      ::new (static_cast<void*>(&inside_)) stored(std::forward<F>(callable));
    } else {
      ::new (static_cast<void*>(&inside_)) stored*(new stored(std::forward<F>(callable)));
    }
  }

  unique_function(unique_function&& other) noexcept { take(other); }
  unique_function& operator=(unique_function&& other) noexcept {
    if (this == &other) return *this;
    // What is dropped goes last: it may hold whatever refers to this.
    unique_function dropped(std::move(*this));
    take(other);
    return *this;
  }
  unique_function(const unique_function&) = delete;
  unique_function& operator=(const unique_function&) = delete;
  ~unique_function() {
    if (actions_ != nullptr) std::exchange(actions_, nullptr)->destroy(&inside_);
  }

  explicit operator bool() const { return actions_ != nullptr; }

  R operator()(Args... args) {
    BRAID_CHECK(actions_ != nullptr, "call of an empty function");
    return actions_->call(&inside_, std::forward<Args>(args)...);
  }

 private:
  static constexpr std::size_t inside_bytes = 5 * sizeof(void*);

  struct actions {
    R (*call)(void* inside, Args&&... args);
    void (*move)(void* from, void* to) noexcept;  // and destroys what was moved from
    void (*destroy)(void* inside) noexcept;
  };

  template <class F>
  static constexpr bool fits_inside =
      sizeof(F) <= inside_bytes && alignof(F) <= alignof(void*) && std::is_nothrow_move_constructible_v<F>;

  template <class F>
  static F& target_in(void* inside) {
    if constexpr (fits_inside<F>) {
      return *std::launder(static_cast<F*>(inside));
    } else {
      return **std::launder(static_cast<F**>(inside));
    }
  }

  template <class F>
  static R call(void* inside, Args&&... args) {
    return target_in<F>(inside)(std::forward<Args>(args)...);
  }

  template <class F>
  static void move(void* from, void* to) noexcept {
    if constexpr (fits_inside<F>) {
      F& target = target_in<F>(from);
      ::new (to) F(std::move(target));
      target.~F();
    } else {
      ::new (to) F*(&target_in<F>(from));
    }
  }

  template <class F>
  static void destroy(void* inside) noexcept {
    if constexpr (fits_inside<F>) {
      target_in<F>(inside).~F();
    } else {
      delete &target_in<F>(inside);
    }
  }

  template <class F>
  static constexpr actions actions_of = {&call<F>, &move<F>, &destroy<F>};

  void take(unique_function& other) noexcept {
    actions_ = std::exchange(other.actions_, nullptr);
    if (actions_ != nullptr) actions_->move(&other.inside_, &inside_);
  }

  const actions* actions_ = nullptr;
  alignas(void*) std::byte inside_[inside_bytes];
};

}  // namespace braidmq
