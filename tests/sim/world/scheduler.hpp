// Virtual time and the order of everything: tasks of many executors, of which the seed chooses the next one, and
// timers, which fire when time has come to them. Time passes by a little with each task and jumps to the next timer
// when nothing is ready; the real clock is never read.
//
// One thread. Executors and sources must not outlive the scheduler.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/clock.hpp"
#include "io/executor.hpp"
#include "io/timers.hpp"
#include "support/sim_random.hpp"
#include "world/trace.hpp"

namespace braidmq::sim {

class scheduler;

// Something that may have a task to run.
class task_source {
 public:
  explicit task_source(scheduler& owner, std::string name);
  virtual ~task_source();
  task_source(const task_source&) = delete;
  task_source& operator=(const task_source&) = delete;

  virtual bool ready() = 0;
  // False when there was none after all.
  virtual bool run_one() = 0;

  // Something ran that may have made this one ready without its knowing.
  virtual void note_activity() {}

  // How often the seed chooses it, against the others. Slow disks have a small one.
  void set_weight(unsigned weight) { weight_ = weight; }
  unsigned weight() const { return weight_; }
  // A process that is stopped runs nothing; what is due meanwhile waits.
  void set_paused(bool paused) { paused_ = paused; }
  bool is_paused() const { return paused_; }
  const std::string& name() const { return name_; }

 protected:
  scheduler& owner() { return *owner_; }

 private:
  scheduler* owner_;
  std::string name_;
  unsigned weight_ = default_weight;
  bool paused_ = false;

 public:
  static constexpr unsigned default_weight = 64;
};

enum class task_order { serial, any };

class sim_executor final : public task_source, public io::executor, public io::timer_service {
 public:
  sim_executor(scheduler& owner, std::string name, task_order order = task_order::serial);
  ~sim_executor() override;

  void post(io::task work) override;
  io::timer_id schedule(io::duration delay, unique_function<void()> callback) override;
  bool cancel(io::timer_id id) override;

  // How fast this one's clock goes (machine_clock): its timers come earlier or later.
  void set_rate(double rate) { rate_ = rate; }

  // Drops tasks and timers and all that will come, as the end of a process does.
  void stop();

  bool ready() override { return !tasks_.empty(); }
  bool run_one() override;

 private:
  friend class scheduler;
  struct timer {
    io::time_point due;
    unique_function<void()> callback;
  };

  void fire(io::timer_id id);  // its time has come: becomes a task, which cancel() can still take back

  task_order order_;
  bool stopped_ = false;
  double rate_ = 1;
  std::deque<io::task> tasks_;
  std::map<io::timer_id, timer> timers_;
};

class scheduler {
 public:
  explicit scheduler(std::uint64_t seed) : chance_(seed) {}

  const io::clock& clock() const { return clock_; }
  io::time_point now() const { return clock_.now(); }
  trace& events() { return trace_; }
  std::uint64_t tasks_run() const { return tasks_run_; }

  // One task, or the passing of time to the next timer. False when there is neither.
  bool step();

  // Each task takes up to so long; the more, the more timers interfere with work.
  void set_task_time(io::duration longest) { task_time_ = longest; }

 private:
  friend class task_source;
  friend class sim_executor;

  struct virtual_clock final : io::clock {
    io::time_point now() const override { return time; }
    std::int64_t wall_ms() const override {
      return wall_begins_ms + std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
    }
    io::time_point time{std::chrono::seconds(1)};
    static constexpr std::int64_t wall_begins_ms = 1'700'000'000'000;
  };
  using timer_key = std::pair<io::time_point, io::timer_id>;

  task_source* choose();
  void fire_due();

  rng chance_;
  virtual_clock clock_;
  trace trace_;
  std::vector<task_source*> sources_;  // in order of their making
  std::map<timer_key, sim_executor*> timers_;
  std::uint64_t last_timer_ = 0;
  std::uint64_t tasks_run_ = 0;
  io::duration task_time_ = std::chrono::microseconds(20);
};

}  // namespace braidmq::sim
