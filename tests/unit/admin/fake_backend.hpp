// A backend that answers what the test wants and remembers what it was asked.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "admin/backend.hpp"

namespace braidmq::admin {

class fake_backend final : public backend {
 public:
  result<admin_client::cluster_info> cluster() override {
    return say("cluster", admin_client::cluster_info{.cluster_id = "c", .version = "v"});
  }
  result<admin_client::topic_page> topics(const std::string& after, std::int32_t limit) override {
    return say("topics after '" + after + "' limit " + std::to_string(limit), admin_client::topic_page{});
  }
  result<admin_client::topic_info> topic(const std::string& name) override {
    return say("topic " + name, topic_of(name));
  }
  result<admin_client::topic_info> create_topic(const admin_client::topic_creation& wanted) override {
    return say("create " + wanted.name + " " + std::to_string(wanted.partitions), topic_of(wanted.name));
  }
  result<admin_client::topic_info> change_topic(const admin_client::topic_change& wanted) override {
    return say("change " + wanted.name + " " + wanted.id.value_or("-") + " " +
                   std::to_string(wanted.partitions.value_or(0)) + " " + std::to_string(wanted.configs.size()),
               topic_of(wanted.name));
  }
  status delete_topic(const std::string& name, const std::optional<std::string>& id) override {
    const auto said = say("delete " + name + " " + id.value_or("-"), 0);
    return said ? status() : status(tl::unexpected(said.error()));
  }
  result<admin_client::drain_state> drain(std::chrono::milliseconds timeout) override {
    return say("drain " + std::to_string(timeout.count()), admin_client::drain_state{true, true, 0});
  }
  result<admin_client::drain_state> drain_status() override { return say("drained?", admin_client::drain_state{}); }
  status set_listener(const admin_client::listener_info& listener) override {
    const auto said = say("listener " + listener.name + " " + listener.host + ":" + std::to_string(listener.port), 0);
    return said ? status() : status(tl::unexpected(said.error()));
  }

  void fail_with(error why) {
    const std::scoped_lock lock(mutex_);
    failure_ = std::move(why);
  }
  // The last call; empty when there was none since the last time.
  std::string asked() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(asked_, {});
  }

 private:
  static admin_client::topic_info topic_of(const std::string& name) {
    return {.name = name, .id = "i", .partitions = 1, .replication_factor = 1, .configs = {}};
  }
  template <class T>
  result<T> say(std::string what, T value) {
    const std::scoped_lock lock(mutex_);
    asked_ = std::move(what);
    if (failure_) return tl::unexpected(*failure_);
    return value;
  }

  std::mutex mutex_;
  std::optional<error> failure_;
  std::string asked_;
};

}  // namespace braidmq::admin
