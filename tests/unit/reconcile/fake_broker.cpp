#include "fake_broker.hpp"

#include <fmt/format.h>

namespace braidmq::reconcile::testing {
namespace {

using admin_client::errc;
using admin_client::topic_info;

class fake_admin final : public admin_client::client {
 public:
  fake_admin(fake_broker& broker, std::optional<fake_member> member) : broker_(broker), member_(std::move(member)) {}

  result<admin_client::cluster_info> cluster() override {
    BRAID_TRY_VOID(call());
    admin_client::cluster_info info;
    info.cluster_id = broker_.cluster_id;
    info.version = broker_.version;
    info.broker_id = broker_.id;
    info.controller_id = broker_.has_leader ? broker_.id : -1;
    info.metadata_index = broker_.metadata_index;
    info.replication_factor = broker_.replication_factor;
    info.brokers = {
        {.id = broker_.id, .incarnation = "life-1", .alive = true, .draining = false, .listeners = broker_.listeners}};
    if (member_) show_members(info);
    info.braids = {
        {.id = 0, .leader = broker_.has_leader ? broker_.id : -1, .term = 3, .commit_index = broker_.metadata_index}};
    return info;
  }

  // Answered before a broker serves, too.
  result<admin_client::readiness> ready() override {
    if (!member_) return admin_client::readiness{.ready = true, .reasons = {}};
    if (!member_->runs) return fail(errc::unreachable, "connection refused");
    return admin_client::readiness{.ready = member_->ready, .reasons = member_->reasons};
  }
  result<admin_client::topic_page> topics(const std::string& after, std::int32_t limit) override {
    BRAID_TRY_VOID(call());
    if (!broker_.lists_topics) return fail(errc::timed_out, "no list");
    ++broker_.lists;
    admin_client::topic_page page{.metadata_index = broker_.metadata_index, .topics = {}, .next = {}};
    for (auto it = broker_.topics.upper_bound(after); it != broker_.topics.end(); ++it) {
      if (std::ssize(page.topics) == limit) {
        page.next = page.topics.back().name;
        break;
      }
      page.topics.push_back(it->second);
    }
    return page;
  }

  result<topic_info> topic(const std::string& name) override {
    BRAID_TRY_VOID(call());
    const auto found = broker_.topics.find(name);
    if (found == broker_.topics.end()) return fail(errc::unknown_topic_or_partition, "no topic " + name);
    return found->second;
  }

  result<topic_info> create_topic(const admin_client::topic_creation& wanted) override {
    BRAID_TRY_VOID(call());
    BRAID_TRY_VOID(check(wanted.configs));
    if (wanted.replication_factor > broker_.replication_factor)
      return fail(errc::invalid_replication_factor,
                  fmt::format("the braid keeps {} copies: set replicationFactor to it", broker_.replication_factor));
    if (broker_.topics.contains(wanted.name)) return fail(errc::topic_already_exists, wanted.name);
    begin("create");
    broker_.put_topic(wanted.name, wanted.partitions, wanted.configs);
    BRAID_TRY_VOID(end());
    return broker_.topics.at(wanted.name);
  }

  result<topic_info> change_topic(const admin_client::topic_change& wanted) override {
    BRAID_TRY_VOID(call());
    const auto found = broker_.topics.find(wanted.name);
    if (found == broker_.topics.end()) return fail(errc::unknown_topic_or_partition, wanted.name);
    auto& topic = found->second;
    if (wanted.id && *wanted.id != topic.id) return fail(errc::unknown_topic_id, wanted.name);
    std::map<std::string, std::string> set;
    for (const auto& [key, value] : wanted.configs) {
      if (value) set[key] = *value;
    }
    BRAID_TRY_VOID(check(set));
    begin("change");
    if (wanted.partitions) topic.partitions = *wanted.partitions;
    for (const auto& [key, value] : wanted.configs) {
      if (value)
        topic.configs[key] = as_kept(key, *value);
      else
        topic.configs.erase(key);
    }
    topic.changed_index = ++broker_.metadata_index;
    BRAID_TRY_VOID(end());
    return topic;
  }

  status delete_topic(const std::string& name, const std::optional<std::string>& id) override {
    BRAID_TRY_VOID(call());
    const auto found = broker_.topics.find(name);
    if (found == broker_.topics.end()) return fail(errc::unknown_topic_or_partition, name);
    if (id && *id != found->second.id) return fail(errc::unknown_topic_id, name);
    begin("delete");
    broker_.drop_topic(name);
    return end();
  }

  result<admin_client::drain_state> drain(std::chrono::milliseconds) override { return admin_client::drain_state{}; }
  result<admin_client::drain_state> drain_status() override { return admin_client::drain_state{}; }

  status set_listener(const admin_client::listener_info& listener) override {
    BRAID_TRY_VOID(call());
    begin("listener");
    auto& listeners = member_ ? broker_.member_listeners[member_->id] : broker_.listeners;
    std::erase_if(listeners, [&](const auto& one) { return one.name == listener.name; });
    listeners.push_back(listener);
    ++broker_.metadata_index;
    return end();
  }

 private:
  status call() {
    ++broker_.calls;
    const bool fails = !broker_.reachable || broker_.unreachable_times > 0;
    if (broker_.unreachable_times > 0) --broker_.unreachable_times;
    if (fails || (member_ && !member_->runs)) return fail(errc::unreachable, "connection refused");
    if (member_ && !member_->ready) return fail(errc::not_controller, "the broker is starting or ending");
    return {};
  }
  void show_members(admin_client::cluster_info& info) const {
    info.cluster_id = member_->cluster_id;
    info.broker_id = member_->id;
    info.controller_id = broker_.has_leader ? member_->ids.front() : -1;
    info.brokers.clear();
    for (const auto id : member_->ids) {
      const auto listeners = broker_.member_listeners.find(id);
      auto& shown = info.brokers.emplace_back();
      shown.id = id;
      shown.incarnation = fmt::format("life-{}", id);
      shown.alive = true;
      if (listeners != broker_.member_listeners.end()) shown.listeners = listeners->second;
    }
  }
  void begin(const char* what) {
    if (broker_.on_write) broker_.on_write(what);
    ++broker_.writes;
  }
  status end() {
    if (broker_.after_write) broker_.after_write();
    if (!std::exchange(broker_.lose_next_answer, false)) return {};
    return fail(errc::timed_out, "no answer");
  }
  status check(const std::map<std::string, std::string>& configs) const {
    for (const auto& [key, value] : configs) {
      if (key.starts_with("bogus"))
        return fail(errc::invalid_config, fmt::format("there is no topic config {}: remove it", key));
    }
    return {};
  }
  std::string as_kept(const std::string& key, const std::string& value) const {
    const auto found = broker_.kept_as.find(key);
    return found == broker_.kept_as.end() ? value : found->second;
  }

  fake_broker& broker_;
  std::optional<fake_member> member_;
};

}  // namespace

void fake_broker::put_topic(const std::string& name, std::int32_t partitions,
                            std::map<std::string, std::string> configs) {
  ++metadata_index;
  topics[name] = {.name = name,
                  .id = fmt::format("topic-id-{}", metadata_index),
                  .partitions = partitions,
                  .replication_factor = replication_factor,
                  .configs = std::move(configs),
                  .created_index = metadata_index,
                  .changed_index = metadata_index};
}

void fake_broker::drop_topic(const std::string& name) {
  ++metadata_index;
  topics.erase(name);
}

std::unique_ptr<admin_client::client> connect_to_fake(fake_broker& broker, std::optional<fake_member> member) {
  return std::make_unique<fake_admin>(broker, std::move(member));
}

}  // namespace braidmq::reconcile::testing
