// Where work runs. An executor is a promise about threads: tasks of one `serial` executor never overlap and start in
// the order in which one thread posted them. The simulator's executors let a seed choose whose task runs next.
#pragma once

#include "base/unique_function.hpp"

namespace braidmq::io {

using task = unique_function<void()>;

class executor {
 public:
  virtual ~executor() = default;

  // Runs `work` later, never inside this call. Any thread may post. After the executor has stopped, work is dropped.
  virtual void post(task work) = 0;
};

}  // namespace braidmq::io
