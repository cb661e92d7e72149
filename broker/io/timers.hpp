// One-shot timers of one executor: callbacks run on it. To be used on that executor only.
#pragma once

#include <cstdint>

#include "base/strong_id.hpp"
#include "base/unique_function.hpp"
#include "io/clock.hpp"

namespace braidmq::io {

using timer_id = strong_id<struct timer_id_tag, std::uint64_t>;  // 0: no timer

class timer_service {
 public:
  virtual ~timer_service() = default;

  // `callback` runs once, not before `delay` has passed and never inside this call.
  virtual timer_id schedule(duration delay, unique_function<void()> callback) = 0;

  // True when the callback had not run and now never will. An unknown or finished id is not an error.
  virtual bool cancel(timer_id id) = 0;
};

}  // namespace braidmq::io
