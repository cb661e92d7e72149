#include "operator_app/failure_log.hpp"

#include <spdlog/spdlog.h>

namespace braidmq::operator_app {

void failure_log::note(const char* kind, const k8s::object_key& key, const std::string& why) {
  std::lock_guard lock(mutex_);
  if (why.empty() && said_.empty()) return;
  const auto id = std::pair(std::string(kind), key);
  const auto known = said_.find(id);
  if (why.empty()) {
    if (known == said_.end()) return;
    spdlog::info("{} {}: goes on", kind, key.to_string());
    said_.erase(known);
    return;
  }
  if (known != said_.end() && known->second == why) return;
  spdlog::warn("{} {}: {}", kind, key.to_string(), why);
  if (known != said_.end()) {
    known->second = why;
  } else if (said_.size() < max_remembered) {
    said_.emplace(id, why);
  }
}

}  // namespace braidmq::operator_app
