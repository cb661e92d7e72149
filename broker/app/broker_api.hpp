// The HTTP API's backend: what it asks, done on this process's broker. Runs on admin threads, which wait for the
// broker's own.
#pragma once

#include "admin/backend.hpp"
#include "app/process.hpp"

namespace braidmq::app {

class broker_api final : public admin::backend {
 public:
  explicit broker_api(process& process) : process_(process) {}

  result<admin_client::cluster_info> cluster() override;
  result<admin_client::topic_page> topics(const std::string& after, std::int32_t limit) override;
  result<admin_client::topic_info> topic(const std::string& name) override;
  result<admin_client::topic_info> create_topic(const admin_client::topic_creation& wanted) override;
  result<admin_client::topic_info> change_topic(const admin_client::topic_change& wanted) override;
  status delete_topic(const std::string& name, const std::optional<std::string>& id) override;
  result<admin_client::drain_state> drain(std::chrono::milliseconds timeout) override;
  result<admin_client::drain_state> drain_status() override;
  status set_listener(const admin_client::listener_info& listener) override;

 private:
  // The broker, or why it cannot be asked yet.
  result<server::broker*> broker() const;

  process& process_;
};

// The name by which the HTTP API knows an error of the broker's, which is Kafka's.
error to_api_error(error why);

}  // namespace braidmq::app
