#include "world/nemesis.hpp"

#include <fmt/format.h>

namespace braidmq::sim {

void nemesis::after_task() {
  if (!machine_.running()) return;
  if (stopped_life_ == machine_.life_number()) {
    // The process ends; sometimes the power goes at the same time.
    end_life(chance_.chance(0.3) ? end_of_life::power_cut : end_of_life::process_killed, "stopped cleanly");
    return;
  }
  if (!active_) return;
  if (due(rates_.crash_between_tasks)) return end_life(end_of_life::power_cut, "power cut");
  if (ends_at_election()) return end_life(end_of_life::power_cut, "power cut at an election");
  if (due(rates_.kill_process)) return end_life(end_of_life::process_killed, "process killed");
  if (due(rates_.crash_at_file_operation)) machine_.crash_at_operation(1 + chance_.below(200));
  if (due(rates_.disk_error)) {
    say("a disk operation is going to fail");
    machine_.fail_disk_once();
  }
  if (due(rates_.clean_stop) && stopping_life_ != machine_.life_number()) {
    say("told to stop");
    stopping_life_ = machine_.life_number();
    machine_.stop_cleanly([this, life = stopping_life_] { stopped_life_ = life; });
  }
  if (due(rates_.full_disk)) {
    say("the disk is full, or has space again");
    machine_.toggle_full_disk();
  }
  if (due(rates_.cut_connection)) cut_a_connection();
  if (due(rates_.wall_jump)) {
    const bool far = chance_.chance(0.3);
    machine_.jump_wall_clock(far ? chance_.between(-7'200'000, 7'200'000) : chance_.between(-2'000, 2'000));
  }
  if (due(rates_.pause)) {
    say("paused");
    machine_.pause(io::duration(chance_.below(static_cast<std::uint64_t>(longest_pause_.count()))));
  }
  if (due(rates_.change_pace)) {
    if (chance_.chance(0.3))
      machine_.steady_pace();
    else
      machine_.change_pace();
  }
}

// What was promised in an election must hold over a crash, and elections are rare.
bool nemesis::ends_at_election() {
  if (rates_.crash_at_election == 0) return false;
  const auto braid = machine_.braid_office();
  const auto metadata = machine_.metadata_office();
  const raft::term braid_now = braid ? braid->term : braid_term_;
  const raft::term metadata_now = metadata ? metadata->term : metadata_term_;
  const bool is_another = braid_now > braid_term_ || metadata_now > metadata_term_;
  braid_term_ = braid_now;
  metadata_term_ = metadata_now;
  if (is_another && chance_.chance(rates_.crash_at_election)) ends_at_task_ = world_.tasks_run() + chance_.below(500);
  if (!ends_at_task_ || world_.tasks_run() < *ends_at_task_) return false;
  ends_at_task_.reset();
  return true;
}

void nemesis::end_life(end_of_life how, const char* what) {
  say(what);
  world_.events().mix(event::fault, static_cast<std::uint64_t>(how));
  machine_.end_life(how);
}

void nemesis::cut_a_connection() {
  const auto links = machine_.open_links();
  if (!links.empty()) links[chance_.below(links.size())]->cut();
}

void nemesis::say(const std::string& what) const {
  if (!verbose_) return;
  fmt::print("{:>12.6f} s  task {:>8}  {}\n", std::chrono::duration<double>(world_.now().time_since_epoch()).count(),
             world_.tasks_run(), what);
}

}  // namespace braidmq::sim
