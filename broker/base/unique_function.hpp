// A move-only callable (std::move_only_function comes with C++23). Calling an empty one is a broken invariant.
#pragma once

#include <memory>
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
      : target_(std::make_unique<holder<std::decay_t<F>>>(std::forward<F>(callable))) {}

  explicit operator bool() const { return target_ != nullptr; }

  R operator()(Args... args) {
    BRAID_CHECK(target_ != nullptr, "call of an empty function");
    return target_->call(std::forward<Args>(args)...);
  }

 private:
  struct base {
    virtual ~base() = default;
    virtual R call(Args... args) = 0;
  };
  template <class F>
  struct holder final : base {
    explicit holder(F&& f) : callable(std::move(f)) {}
    explicit holder(const F& f) : callable(f) {}
    R call(Args... args) override { return callable(std::forward<Args>(args)...); }
    F callable;
  };

  std::unique_ptr<base> target_;
};

}  // namespace braidmq
