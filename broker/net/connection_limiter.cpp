#include "net/connection_limiter.hpp"

#include "base/check.hpp"

namespace braidmq::net {

std::optional<close_cause> connection_limiter::enter(const std::string& ip) {
  const std::scoped_lock lock(mutex_);
  if (connections_ >= max_connections_) return close_cause::too_many;
  const auto found = by_ip_.find(ip);
  if ((found == by_ip_.end() ? 0 : found->second) >= max_per_ip_) return close_cause::too_many_of_ip;
  ++by_ip_[ip];
  ++connections_;
  return std::nullopt;
}

void connection_limiter::leave(const std::string& ip) {
  const std::scoped_lock lock(mutex_);
  const auto found = by_ip_.find(ip);
  BRAID_CHECK(found != by_ip_.end() && connections_ > 0, "a connection left that never came");
  if (--found->second == 0) by_ip_.erase(found);
  --connections_;
}

std::size_t connection_limiter::connections() const {
  const std::scoped_lock lock(mutex_);
  return connections_;
}

std::string ip_of(std::string_view remote) {
  return std::string(remote.substr(0, remote.rfind(':')));
}

}  // namespace braidmq::net
