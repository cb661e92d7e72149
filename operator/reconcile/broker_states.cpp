#include "reconcile/broker_states.hpp"

namespace braidmq::reconcile {
namespace {

constexpr int max_failures = 3;
constexpr auto max_silence = std::chrono::seconds(60);

}  // namespace

bool broker_state::reachable(io::time_point now) const {
  if (!answered) return false;
  return failures == 0 || (failures < max_failures && now - failing_since < max_silence);
}

std::shared_ptr<const broker_state> broker_states::find(const k8s::object_key& cluster) const {
  static const auto unknown = std::make_shared<const broker_state>();
  std::lock_guard lock(mutex_);
  const auto found = states_.find(cluster);
  return found == states_.end() ? unknown : found->second;
}

std::shared_ptr<const broker_state> broker_states::put(const k8s::object_key& cluster,
                                                       std::shared_ptr<const broker_state> next) {
  std::lock_guard lock(mutex_);
  auto& place = states_[cluster];
  std::swap(place, next);
  return next == nullptr ? std::make_shared<const broker_state>() : next;
}

std::shared_ptr<const broker_state> broker_states::answered(const k8s::object_key& cluster, const std::string& pod_uid,
                                                            admin_client::cluster_info info) {
  auto next = std::make_shared<broker_state>();
  next->answered = true;
  next->info = std::move(info);
  next->pod_uid = pod_uid;
  next->unready = find(cluster)->unready;
  return put(cluster, std::move(next));
}

std::shared_ptr<const broker_state> broker_states::failed(const k8s::object_key& cluster, const std::string& why,
                                                          io::time_point now) {
  auto next = std::make_shared<broker_state>(*find(cluster));
  if (next->failures == 0) next->failing_since = now;
  ++next->failures;
  next->last_error = why;
  return put(cluster, std::move(next));
}

bool broker_states::heard_unready(const k8s::object_key& cluster, std::map<std::string, std::string> reasons) {
  const auto known = find(cluster);
  if (known->unready == reasons) return false;
  auto next = std::make_shared<broker_state>(*known);
  next->unready = std::move(reasons);
  put(cluster, std::move(next));
  return true;
}

void broker_states::absent(const k8s::object_key& cluster, const std::string& why, io::time_point now) {
  const auto known = find(cluster);
  if (known->failures > 0) return;
  auto next = std::make_shared<broker_state>(*known);
  next->failing_since = now;
  next->failures = 1;
  next->last_error = why;
  put(cluster, std::move(next));
}

void broker_states::forget(const k8s::object_key& cluster) {
  std::lock_guard lock(mutex_);
  states_.erase(cluster);
}

}  // namespace braidmq::reconcile
