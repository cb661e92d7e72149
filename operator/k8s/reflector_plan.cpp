#include "k8s/reflector_plan.hpp"

#include <algorithm>

#include "k8s/errc.hpp"

namespace braidmq::k8s {
namespace {

constexpr int max_fruitless_watches = 3;

}  // namespace

reflector_plan::reflector_plan(const reflector_timing& timing, const io::clock& clock, io::random_source& random)
    : timing_(timing), clock_(clock), random_(random) {}

reflector_plan::step reflector_plan::next() {
  step next;
  next.what = state_;
  next.wait = std::exchange(wait_, {});
  if (state_ == step::kind::list) {
    if (!list_latest_) next.resource_version = version_;
    return next;
  }
  had_event_ = false;
  next.resource_version = version_;
  const auto spread = static_cast<std::uint64_t>((timing_.watch_timeout_max - timing_.watch_timeout_min).count());
  next.timeout = timing_.watch_timeout_min + std::chrono::seconds(random_.next_u64() % (spread + 1));
  return next;
}

void reflector_plan::back_off() {
  const auto now = clock_.now();
  const bool was_healthy = !failed_at_ || now - *failed_at_ >= timing_.healthy_after;
  backoff_ = was_healthy ? timing_.backoff_min : std::min(backoff_ * 2, timing_.backoff_max);
  wait_ = backoff_ + io::duration(random_.next_u64() % static_cast<std::uint64_t>(backoff_.count() + 1));
  failed_at_ = now + wait_;  // health is counted from when it is tried again
}

void reflector_plan::listed(const std::string& resource_version) {
  version_ = resource_version;
  list_latest_ = false;
  fruitless_watches_ = 0;
  state_ = step::kind::watch;
}

void reflector_plan::list_failed(const error& why) {
  // Too old for a list that had to be at least this new, or not even known to this server: nothing but the most recent
  // state helps, and there is no reason to wait when that was all.
  const bool had_asked_for_version = !list_latest_;
  list_latest_ = true;
  if (!had_asked_for_version || why.code != errc::gone) back_off();
}

void reflector_plan::saw(const std::string& resource_version) {
  had_event_ = true;
  fruitless_watches_ = 0;
  if (!resource_version.empty()) version_ = resource_version;
}

const char* reflector_plan::watch_ended(const result<watch_end>& how, const std::optional<error>& in_stream,
                                        io::duration lived) {
  if (!in_stream && how) {
    if (had_event_ || lived >= timing_.short_watch) {
      fruitless_watches_ = 0;
      return "timeout";
    }
    back_off();
    return "too_short";
  }
  const error& why = in_stream ? *in_stream : how.error();
  if (why.code == errc::canceled) return "canceled";
  if (why.code == errc::gone) {
    state_ = step::kind::list;
    // The first time there is nothing to wait for; a server that says so again and again gets pauses.
    const bool again = failed_at_ && clock_.now() - *failed_at_ < timing_.healthy_after;
    back_off();
    if (!again) wait_ = {};
    return "expired";
  }
  back_off();
  if (why.code == errc::invalid || ++fruitless_watches_ >= max_fruitless_watches) {
    state_ = step::kind::list;
    list_latest_ = true;
    fruitless_watches_ = 0;
  }
  if (why.code == errc::server_error) return "server_error";
  if (why.code == errc::too_many_requests) return "too_many_requests";
  if (why.code == errc::network) return "network";
  if (why.code == errc::timed_out) return "silent";
  return "other";
}

}  // namespace braidmq::k8s
