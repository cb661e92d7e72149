#include "app/broker_api.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "admin_client/errc.hpp"
#include "app/wait_for.hpp"
#include "protocol/errors.hpp"
#include "server/error_mapping.hpp"
#include "server/topic_admin.hpp"

namespace braidmq::app {
namespace {

using admin_client::errc;
using namespace std::chrono_literals;

constexpr auto change_timeout = 25'000ms;  // below what clients wait
constexpr auto copy_timeout = 2000ms;
constexpr std::size_t max_host_bytes = 255;

error no_answer() {
  return {make_error_code(errc::request_timed_out), "the broker did not answer in time; the outcome is unknown"};
}

admin_client::topic_info to_info(const server::topic_description& topic) {
  return {.name = topic.name,
          .id = topic.id.to_string(),
          .partitions = topic.partitions,
          .replication_factor = topic.replication_factor,
          .configs = topic.configs,
          .created_index = topic.created_index,
          .changed_index = topic.changed_index};
}

// What `start` answers, as the API's topic.
template <class Start>
result<admin_client::topic_info> described(Start start) {
  auto said = wait_for<result<server::topic_description>>(change_timeout + 1s, std::move(start));
  if (!said) return tl::unexpected(no_answer());
  if (!*said) return tl::unexpected(to_api_error(std::move(*said).error()));
  return to_info(**said);
}

result<std::optional<model::topic_id>> parse_id(const std::optional<std::string>& text) {
  if (!text) return std::optional<model::topic_id>();
  auto id = uuid::parse(*text);
  if (!id) return fail(errc::invalid_request, fmt::format("'{}' is not the id of a topic", text->substr(0, 100)));
  return id;
}

// Clients will connect to it: a name or an address, not "all addresses".
status check_host(const std::string& host) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_' || c == ':';
  };
  if (host.empty() || host.size() > max_host_bytes || !std::ranges::all_of(host, plain)) {
    return fail(errc::invalid_request, "\"host\" must be a host name or an address");
  }
  if (host == "0.0.0.0" || host == "::") {
    return fail(errc::invalid_request, fmt::format("clients cannot connect to {}", host));
  }
  return {};
}

}  // namespace

error to_api_error(error why) {
  const protocol::error_code code = server::wire_error(why.code);
  errc as = admin_client::errc_of(protocol::to_string(code));
  // The braid has no leader here, now: to a client of this API that is the same as no controller.
  if (code == protocol::error_code::not_leader_or_follower) as = errc::not_controller;
  if (as == errc::refused) return why;  // its words stay inside
  return {make_error_code(as), why.message.empty() ? why.code.message() : std::move(why.message)};
}

result<server::broker*> broker_api::broker() const {
  if (!process_.serving_) return fail(errc::not_controller, "the broker is starting or ending");
  server::broker* self = process_.broker_.get();
  // Until then, what was acknowledged may be missing: a topic that exists must not be said to be unknown.
  if (!self->controller().is_current()) return fail(errc::not_controller, "the metadata log is still being read");
  return self;
}

result<admin_client::cluster_info> broker_api::cluster() {
  BRAID_TRY(self, broker());
  const metadata::image_ptr image = self->image();
  const auto braid = copy_from(process_.shards_.at(0), copy_timeout, [self] { return self->braid().statistics(); });
  if (!braid) return fail(errc::request_timed_out, "the braid's shard did not answer in time");
  const model::broker_id id = self->options().id;
  admin_client::cluster_info info;
  if (!image->cluster_id().is_zero()) info.cluster_id = image->cluster_id().to_string();
  info.version = BRAID_VERSION;
  info.broker_id = id.value();
  const server::cluster_view view = self->view({});
  info.controller_id = view.controller_id().value();
  info.metadata_index = image->index();
  info.replication_factor = self->controller().replication_factor();
  for (const auto& [other, registration] : image->brokers()) {
    auto& shown = info.brokers.emplace_back();
    shown.id = other.value();
    shown.incarnation = registration.incarnation.to_string();
    shown.alive = view.is_alive(other);
    shown.rack = registration.rack.value_or("");
    shown.roles = view.roles_of(other);
    shown.draining = registration.draining;
    for (const auto& one : registration.listeners) shown.listeners.push_back({one.name, one.host, one.port});
  }
  auto& shown = info.braids.emplace_back();
  shown.leader = view.leader().value();
  shown.term = braid->term.value();
  shown.commit_index = braid->commit_index.value();
  shown.applied_index = braid->applied_index.value();
  shown.visible_index = braid->visible_index.value();
  for (const model::broker_id voter : view.voters) shown.replicas.push_back(voter.value());
  for (const braid::peer_stats& one : braid->peers) {
    shown.peers.push_back(
        {.id = one.voter.broker, .match_index = one.match.value(), .needs_snapshot = one.needs_snapshot});
  }
  return info;
}

result<admin_client::topic_page> broker_api::topics(const std::string& after, std::int32_t limit) {
  BRAID_TRY(self, broker());
  const server::topic_page page = self->topics().list(after, static_cast<std::size_t>(limit));
  admin_client::topic_page shown{.metadata_index = page.metadata_index, .topics = {}, .next = page.next};
  for (const auto& topic : page.topics) shown.topics.push_back(to_info(topic));
  return shown;
}

result<admin_client::topic_info> broker_api::topic(const std::string& name) {
  BRAID_TRY(self, broker());
  const auto found = self->topics().get(name);
  if (!found) return fail(errc::unknown_topic_or_partition, fmt::format("there is no topic '{}'", name.substr(0, 300)));
  return to_info(*found);
}

result<admin_client::topic_info> broker_api::create_topic(const admin_client::topic_creation& wanted) {
  BRAID_TRY(self, broker());
  server::topic_creation creation{.name = wanted.name,
                                  .partitions = wanted.partitions,
                                  .replication_factor = wanted.replication_factor,
                                  .configs = wanted.configs,
                                  .validate_only = wanted.validate_only};
  return described([&](server::topic_admin::described done) {
    self->topics().create(std::move(creation), change_timeout, std::move(done));
  });
}

result<admin_client::topic_info> broker_api::change_topic(const admin_client::topic_change& wanted) {
  BRAID_TRY(self, broker());
  BRAID_TRY(id, parse_id(wanted.id));
  server::topic_alteration alteration{.name = wanted.name,
                                      .id = id,
                                      .partitions = wanted.partitions,
                                      .configs = wanted.configs,
                                      .validate_only = wanted.validate_only};
  return described([&](server::topic_admin::described done) {
    self->topics().alter(std::move(alteration), change_timeout, std::move(done));
  });
}

status broker_api::delete_topic(const std::string& name, const std::optional<std::string>& id) {
  BRAID_TRY(self, broker());
  BRAID_TRY(precondition, parse_id(id));
  BRAID_TRY_VOID(described([&](server::topic_admin::described done) {
    self->topics().remove(name, precondition, change_timeout, std::move(done));
  }));
  return {};
}

// Whoever stops a broker that never came to serve, or whose cluster has no leader, must not wait for that.
result<admin_client::drain_state> broker_api::drain(std::chrono::milliseconds timeout) {
  if (!process_.serving_) return admin_client::drain_state{.draining = false, .last_broker = false, .leaderships = 0};
  server::broker* self = process_.broker_.get();
  constexpr auto patience = 10'000ms;  // beyond what is to be waited for
  auto said = wait_for<result<server::drain_state>>(timeout + patience,
                                                    [&](auto done) { self->drain().begin(timeout, std::move(done)); });
  if (!said) return tl::unexpected(no_answer());
  if (!*said) return tl::unexpected(to_api_error(std::move(*said).error()));
  return admin_client::drain_state{(*said)->draining, (*said)->last_broker, (*said)->leaderships};
}

result<admin_client::drain_state> broker_api::drain_status() {
  BRAID_TRY(self, broker());
  const server::drain_state now = self->drain().state();
  return admin_client::drain_state{now.draining, now.last_broker, now.leaderships};
}

status broker_api::set_listener(const admin_client::listener_info& listener) {
  const config::broker_config& config = process_.config_;
  if (std::ranges::find(config.listeners, listener.name, &config::listener::name) == config.listeners.end()) {
    return fail(errc::not_found, fmt::format("'{}' is not in listeners of this broker", listener.name.substr(0, 100)));
  }
  if (std::ranges::find(config.pushed_listeners, listener.name) == config.pushed_listeners.end()) {
    return fail(errc::conflict,
                fmt::format("the address of {0} is fixed by advertised.listeners or listeners; name {0} in "
                            "braid.advertised.pushed to tell it by HTTP",
                            listener.name));
  }
  BRAID_TRY_VOID(check_host(listener.host));
  if (listener.port == 0) return fail(errc::invalid_request, "\"port\" must be from 1 to 65535");
  BRAID_TRY(self, broker());
  metadata::advertised_listener told{listener.name, listener.host, listener.port};
  auto said = wait_for<status>(change_timeout + 1s, [&](unique_function<void(status)> done) {
    const auto change = [told = std::move(told)](metadata::broker_registration& own) {
      const auto known = std::ranges::find(own.listeners, told.name, &metadata::advertised_listener::name);
      if (known != own.listeners.end())
        *known = told;  // in its place: the same address again is no change
      else
        own.listeners.push_back(told);
    };
    self->controller().change_registration(change, change_timeout, std::move(done));
  });
  if (!said) return tl::unexpected(no_answer());
  if (!*said) return tl::unexpected(to_api_error(std::move(*said).error()));
  return {};
}

}  // namespace braidmq::app
