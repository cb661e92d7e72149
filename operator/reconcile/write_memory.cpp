#include "reconcile/write_memory.hpp"

namespace braidmq::reconcile {
namespace {

constexpr auto max_wait_for_cache = std::chrono::seconds(5);
constexpr auto status_interval = std::chrono::seconds(5);

}  // namespace

void write_memory::wrote(const k8s::resource_type& type, const k8s::object_key& key, const std::string& before,
                         const std::string& after, io::time_point now) {
  std::lock_guard lock(mutex_);
  if (before == after)
    writes_.erase({type.plural, key});
  else
    writes_[{type.plural, key}] = {before, now};
}

bool write_memory::is_stale(const k8s::resource_type& type, const k8s::object_key& key, const std::string& seen,
                            io::time_point now) {
  std::lock_guard lock(mutex_);
  const auto found = writes_.find({type.plural, key});
  if (found == writes_.end()) return false;
  if (found->second.before == seen && now - found->second.at < max_wait_for_cache) return true;
  writes_.erase(found);
  return false;
}

io::duration write_memory::status_pause(const k8s::resource_type& type, const k8s::object_key& key,
                                        io::time_point now) {
  std::lock_guard lock(mutex_);
  const auto found = statuses_.find({type.plural, key});
  if (found == statuses_.end()) return {};
  const auto passed = now - found->second;
  if (passed < status_interval) return status_interval - passed;
  statuses_.erase(found);
  return {};
}

void write_memory::wrote_status(const k8s::resource_type& type, const k8s::object_key& key, io::time_point now) {
  std::lock_guard lock(mutex_);
  statuses_[{type.plural, key}] = now;
  // Entries of objects that are gone go when there are many.
  constexpr std::size_t many = 4096;
  if (statuses_.size() > many)
    std::erase_if(statuses_, [now](const auto& item) { return now - item.second > status_interval; });
}

}  // namespace braidmq::reconcile
