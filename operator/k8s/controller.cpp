#include "k8s/controller.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>

#include <fmt/format.h>

namespace braidmq::k8s {
namespace {

constexpr int exit_software = 70;  // sysexits.h

const char* word_of(reconcile_result::kind what) {
  switch (what) {
    case reconcile_result::kind::done:
      return "done";
    case reconcile_result::kind::requeue:
      return "requeue";
    case reconcile_result::kind::failed:
      return "failed";
    case reconcile_result::kind::terminal:
      return "terminal";
  }
  return "unknown";
}

void exit_at_once(const std::string& why) {
  std::fputs((why + "\n").c_str(), stderr);
  std::_Exit(exit_software);
}

controller_options with_defaults(controller_options options) {
  if (!options.on_fatal) options.on_fatal = exit_at_once;
  return options;
}

}  // namespace

controller::controller(controller_options options, reconcile work, const io::clock& clock)
    : options_(with_defaults(std::move(options))), work_(std::move(work)), clock_(clock), queue_(clock) {}

controller::~controller() {
  stop();
}

void controller::start() {
  for (int i = 0; i < options_.workers; ++i) {
    threads_.emplace_back([this]() noexcept {
      while (const auto key = queue_.take()) work_on(*key);
    });
  }
}

void controller::stop() {
  queue_.shut_down();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

std::size_t controller::run_due() {
  std::size_t count = 0;
  for (; const auto key = queue_.try_take(); ++count) work_on(*key);
  return count;
}

bool controller::is_parked(const object_key& key) {
  {
    std::lock_guard lock(mutex_);
    if (!parked_.contains(key)) return false;
  }
  const auto generation = options_.generation_of ? options_.generation_of(key) : std::nullopt;
  std::lock_guard lock(mutex_);
  const auto found = parked_.find(key);
  if (found == parked_.end()) return false;
  if (generation == found->second) return true;
  parked_.erase(found);
  return false;
}

reconcile_result controller::call(const object_key& key, std::string& word) {
  try {
    reconcile_result result = work_(key);
    word = word_of(result.what);
    return result;
  } catch (const std::bad_alloc&) {
    options_.on_fatal(fmt::format("{}: out of memory while reconciling {}", options_.name, key.to_string()));
  } catch (const std::exception& e) {
    word = "exception";
    return reconcile_result::failed({std::make_error_code(std::errc::state_not_recoverable), e.what()});
  } catch (...) {
    word = "exception";
  }
  return reconcile_result::failed({std::make_error_code(std::errc::state_not_recoverable), "unknown exception"});
}

void controller::work_on(const object_key& key) {
  if (is_parked(key)) {
    queue_.forget(key);
    queue_.done(key);
    std::lock_guard lock(mutex_);
    ++counts_.results["skipped"];
    return;
  }
  // Before the work, so that a change that comes while it runs is not taken for what failed.
  const auto generation = options_.generation_of ? options_.generation_of(key) : std::nullopt;
  const auto started = clock_.now();
  {
    std::lock_guard lock(mutex_);
    in_flight_.emplace(key, started);
  }
  std::string word;
  const reconcile_result result = call(key, word);
  if (result.what == reconcile_result::kind::failed) {
    queue_.add_rate_limited(key);
  } else {
    queue_.forget(key);
    if (result.what == reconcile_result::kind::requeue) queue_.add_after(key, result.after);
  }
  {
    std::lock_guard lock(mutex_);
    in_flight_.erase(key);
    ++counts_.results[word];
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(clock_.now() - started);
    counts_.duration_us.record(static_cast<std::uint64_t>(std::max<std::int64_t>(0, took.count())));
    if (result.what == reconcile_result::kind::terminal && generation) parked_[key] = *generation;
    if (result.what == reconcile_result::kind::failed || result.what == reconcile_result::kind::terminal) {
      counts_.last_error = fmt::format("{}: {}", key.to_string(), result.why.to_string());
    } else {
      counts_.last_success_unix_ms = clock_.wall_ms();
    }
  }
  queue_.done(key);
}

controller_figures controller::read_figures() const {
  std::lock_guard lock(mutex_);
  controller_figures now = counts_;
  now.queue = queue_.read_figures();
  now.parked = parked_.size();
  for (const auto& [key, since] : in_flight_) {
    const io::duration age = clock_.now() - since;
    if (age > options_.deadline) ++now.stuck;
    if (now.oldest_in_flight && *now.oldest_in_flight >= age) continue;
    now.oldest_in_flight = age;
    now.oldest_key = key.to_string();
  }
  return now;
}

std::optional<std::string> controller::stuck() const {
  const auto now = read_figures();
  if (now.stuck == 0) return std::nullopt;
  return fmt::format("{}: {} reconciles are stuck, {} for {} s", options_.name, now.stuck, now.oldest_key,
                     std::chrono::duration_cast<std::chrono::seconds>(*now.oldest_in_flight).count());
}

}  // namespace braidmq::k8s
