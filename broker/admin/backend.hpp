// What the HTTP API does, apart from HTTP: the program implements it for its broker, tests as they like.
//
// Threads: called from several admin threads at once; a call may block, bounded by its own deadline.
// Errors: admin_client::errc, which says name and status; anything else becomes a 500 without its words.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "admin_client/errc.hpp"
#include "admin_client/types.hpp"
#include "base/result.hpp"

namespace braidmq::admin {

class backend {
 public:
  virtual ~backend() = default;

  virtual result<admin_client::cluster_info> cluster() = 0;

  virtual result<admin_client::topic_page> topics(const std::string& after, std::int32_t limit) = 0;
  virtual result<admin_client::topic_info> topic(const std::string& name) = 0;
  virtual result<admin_client::topic_info> create_topic(const admin_client::topic_creation& wanted) = 0;
  virtual result<admin_client::topic_info> change_topic(const admin_client::topic_change& wanted) = 0;
  virtual status delete_topic(const std::string& name, const std::optional<std::string>& id) = 0;

  virtual result<admin_client::drain_state> drain(std::chrono::milliseconds timeout) = 0;
  virtual result<admin_client::drain_state> drain_status() = 0;

  virtual status set_listener(const admin_client::listener_info& listener) = 0;
};

}  // namespace braidmq::admin
