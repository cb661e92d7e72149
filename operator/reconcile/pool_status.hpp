// The status of a BraidPool, from what one pass has seen.
#pragma once

#include "reconcile/scope.hpp"

namespace braidmq::reconcile {

struct pool_view {
  pool_ptr pool;
  cluster_ptr cluster;                           // or null
  std::shared_ptr<const api::stateful_set> set;  // or null
  std::vector<pod_ptr> pods;
  std::optional<problem> refused;  // why nothing was written
  std::optional<problem> trouble;  // why a pod does not run
  std::vector<std::string> held;   // changes without a procedure
  bool paused = false;
};

bool is_pool_ready(const pool_view& view);
std::string revision_of(const api::stateful_set& set);
json pool_status(const pool_view& view, std::int64_t now_s);
result<io::duration> write_pool_status(environment& env, const pool_view& view);

}  // namespace braidmq::reconcile
