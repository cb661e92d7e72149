// BraidPool: its StatefulSet and its status.
#pragma once

#include "reconcile/environment.hpp"

namespace braidmq::reconcile {

inline constexpr std::string_view pool_finalizer = "braidmq.io/pool";  // only with storage.reclaim Delete

result<outcome> reconcile_pool(environment& env, const object_key& key);

}  // namespace braidmq::reconcile
