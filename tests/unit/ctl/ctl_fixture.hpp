// The commands against a broker of the test's own, with a clock that only waiting moves.
#pragma once

#include <deque>
#include <sstream>

#include <gtest/gtest.h>

#include "ctl/commands.hpp"

namespace braidmq::ctl {

using admin_client::errc;

// What the broker holds and says; clients are made anew for calls and share it.
struct script {
  admin_client::cluster_info cluster;
  std::vector<admin_client::topic_info> topics;
  std::optional<error> failure;
  std::deque<result<admin_client::drain_state>> drains;  // one for each call; the last one stays
  std::vector<std::string> asked;
};

class scripted_client final : public admin_client::client {
 public:
  explicit scripted_client(script& from) : script_(from) {}

  result<admin_client::cluster_info> cluster() override { return say("cluster", script_.cluster); }
  result<admin_client::readiness> ready() override { return say("ready", admin_client::readiness{}); }
  result<admin_client::topic_page> topics(const std::string& after, std::int32_t) override {
    return say("topics " + after, admin_client::topic_page{.topics = script_.topics, .next = {}});
  }
  result<admin_client::topic_info> topic(const std::string& name) override { return say("topic " + name, first()); }
  result<admin_client::topic_info> create_topic(const admin_client::topic_creation& wanted) override {
    return say("create " + wanted.name + " " + std::to_string(wanted.partitions), first());
  }
  result<admin_client::topic_info> change_topic(const admin_client::topic_change& wanted) override {
    return say("change " + wanted.name + " " + wanted.id.value_or("-"), first());
  }
  status delete_topic(const std::string& name, const std::optional<std::string>& id) override {
    const auto said = say("delete " + name + " " + id.value_or("-"), 0);
    return said ? status() : status(tl::unexpected(said.error()));
  }
  result<admin_client::drain_state> drain(std::chrono::milliseconds) override {
    script_.asked.emplace_back("drain");
    auto said = script_.drains.front();
    if (script_.drains.size() > 1) script_.drains.pop_front();
    return said;
  }
  result<admin_client::drain_state> drain_status() override { return say("drained?", admin_client::drain_state{}); }
  status set_listener(const admin_client::listener_info&) override { return {}; }

 private:
  admin_client::topic_info first() const {
    return script_.topics.empty() ? admin_client::topic_info{} : script_.topics.front();
  }
  template <class T>
  result<T> say(std::string what, T value) {
    script_.asked.push_back(std::move(what));
    if (script_.failure) return tl::unexpected(*script_.failure);
    return value;
  }

  script& script_;
};

class ctl_test : public ::testing::Test {
 protected:
  script broker_;
  std::ostringstream out_;
  std::ostringstream err_;
  io::time_point now_{};
  context with_{.out = out_,
                .err = err_,
                .connect = [this](std::chrono::milliseconds) -> result<std::unique_ptr<admin_client::client>> {
                  now_ += std::chrono::milliseconds(10);  // a call takes its time
                  return std::make_unique<scripted_client>(broker_);
                },
                .now = [this] { return now_; },
                .sleep = [this](std::chrono::milliseconds time) { now_ += time; }};
};

}  // namespace braidmq::ctl
