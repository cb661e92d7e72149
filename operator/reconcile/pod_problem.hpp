// Why a broker's pod does not run, in the words of whoever refuses: scheduler, kubelet, volume controller, the broker
// itself. Read while a pod is in trouble; a healthy cluster costs no request.
#pragma once

#include "reconcile/scope.hpp"

namespace braidmq::reconcile {

// By the pod alone: image, crash, unschedulable for 10 s (many a pod is for a moment: its volume is being bound,
// another is leaving). Nothing while it is starting or runs.
std::optional<problem> pod_problem(const api::pod& pod, std::int64_t now_s);

// When pod_problem() will name what it does not name yet, should the pods stay as they are.
std::optional<io::duration> until_unscheduled_is_told(const std::vector<pod_ptr>& pods, std::int64_t now_s);

// A pod that never got its container started may be replaced without loss: nothing runs in it.
bool is_broken(const api::pod& pod, std::int64_t now_s);

// With what the server knows beside it: claims that find no volume, pods that are refused. Reads only in trouble.
std::optional<problem> pool_problem(environment& env, const api::braid_pool& pool,
                                    const std::shared_ptr<const api::stateful_set>& set,
                                    const std::vector<pod_ptr>& pods);

}  // namespace braidmq::reconcile
