#include "admin_client/codec.hpp"

#include <nlohmann/json.hpp>

#include "admin_client/object_reader.hpp"

namespace braidmq::admin_client {
namespace {

using nlohmann::json;

listener_info read_listener(object_reader& reader) {
  listener_info value;
  reader.read("name", value.name);
  reader.read("host", value.host);
  reader.read("port", value.port);
  return value;
}

broker_info read_broker(object_reader& reader) {
  broker_info value;
  reader.read("id", value.id);
  reader.read("incarnation", value.incarnation);
  reader.read("alive", value.alive);
  reader.read("draining", value.draining);
  reader.read_list("listeners", value.listeners, read_listener);
  reader.read_if_there("rack", value.rack);
  reader.read_if_there("roles", value.roles);
  return value;
}

peer_info read_peer(object_reader& reader) {
  peer_info value;
  reader.read("id", value.id);
  reader.read("matchIndex", value.match_index);
  reader.read("needsSnapshot", value.needs_snapshot);
  return value;
}

braid_info read_braid(object_reader& reader) {
  braid_info value;
  reader.read("id", value.id);
  reader.read("leader", value.leader);
  reader.read("term", value.term);
  reader.read("commitIndex", value.commit_index);
  reader.read("appliedIndex", value.applied_index);
  reader.read("visibleIndex", value.visible_index);
  reader.read("replicas", value.replicas);
  if (reader.has("peers")) reader.read_list("peers", value.peers, read_peer);
  return value;
}

topic_info read_topic(object_reader& reader) {
  topic_info value;
  reader.read("name", value.name);
  reader.read("id", value.id);
  reader.read("partitions", value.partitions);
  reader.read("replicationFactor", value.replication_factor);
  reader.read("configs", value.configs);
  reader.read("createdIndex", value.created_index);
  reader.read("changedIndex", value.changed_index);
  return value;
}

json to_json(const broker_info& value) {
  json listeners = json::array();
  for (const auto& one : value.listeners) listeners.push_back(admin_client::to_json(one));
  return {{"id", value.id},
          {"incarnation", value.incarnation},
          {"alive", value.alive},
          {"draining", value.draining},
          {"listeners", std::move(listeners)},
          {"rack", value.rack},
          {"roles", value.roles}};
}

json to_json(const braid_info& value) {
  json peers = json::array();
  for (const auto& one : value.peers) {
    peers.push_back({{"id", one.id}, {"matchIndex", one.match_index}, {"needsSnapshot", one.needs_snapshot}});
  }
  return {{"id", value.id},
          {"leader", value.leader},
          {"term", value.term},
          {"commitIndex", value.commit_index},
          {"appliedIndex", value.applied_index},
          {"visibleIndex", value.visible_index},
          {"replicas", value.replicas},
          {"peers", std::move(peers)}};
}

}  // namespace

json to_json(const listener_info& value) {
  return {{"name", value.name}, {"host", value.host}, {"port", value.port}};
}

json to_json(const cluster_info& value) {
  json brokers = json::array();
  for (const auto& one : value.brokers) brokers.push_back(to_json(one));
  json braids = json::array();
  for (const auto& one : value.braids) braids.push_back(to_json(one));
  return {{"clusterId", value.cluster_id},         {"version", value.version},
          {"brokerId", value.broker_id},           {"controllerId", value.controller_id},
          {"metadataIndex", value.metadata_index}, {"replicationFactor", value.replication_factor},
          {"brokers", std::move(brokers)},         {"braids", std::move(braids)}};
}

json braids_to_json(const cluster_info& value) {
  json braids = json::array();
  for (const auto& one : value.braids) braids.push_back(to_json(one));
  return {{"brokerId", value.broker_id}, {"braids", std::move(braids)}};
}

json to_json(const topic_info& value) {
  return {{"name", value.name},
          {"id", value.id},
          {"partitions", value.partitions},
          {"replicationFactor", value.replication_factor},
          {"configs", value.configs},
          {"createdIndex", value.created_index},
          {"changedIndex", value.changed_index}};
}

json to_json(const topic_page& value) {
  json topics = json::array();
  for (const auto& one : value.topics) topics.push_back(to_json(one));
  json made = {{"metadataIndex", value.metadata_index}, {"topics", std::move(topics)}};
  if (value.next) made["next"] = *value.next;
  return made;
}

json to_json(const drain_state& value) {
  return {{"draining", value.draining}, {"lastBroker", value.last_broker}, {"leaderships", value.leaderships}};
}

json to_json(const topic_creation& value) {
  return {{"name", value.name},
          {"partitions", value.partitions},
          {"replicationFactor", value.replication_factor},
          {"configs", value.configs},
          {"validateOnly", value.validate_only}};
}

json to_json(const topic_change& value) {
  json made = {{"validateOnly", value.validate_only}};
  if (value.id) made["id"] = *value.id;
  if (value.partitions) made["partitions"] = *value.partitions;
  json configs = json::object();
  for (const auto& [key, one] : value.configs) configs[key] = one ? json(*one) : json();
  made["configs"] = std::move(configs);
  return made;
}

json error_to_json(errc code, const std::string& message) {
  return {{"error", wire_name(code)}, {"message", message}};
}

result<cluster_info> cluster_from_json(const json& from) {
  cluster_info value;
  object_reader reader(from, "");
  reader.read("clusterId", value.cluster_id);
  reader.read("version", value.version);
  reader.read("brokerId", value.broker_id);
  reader.read("controllerId", value.controller_id);
  reader.read("metadataIndex", value.metadata_index);
  reader.read("replicationFactor", value.replication_factor);
  reader.read_list("brokers", value.brokers, read_broker);
  reader.read_list("braids", value.braids, read_braid);
  BRAID_TRY_VOID(reader.finish());
  return value;
}

result<topic_info> topic_from_json(const json& from) {
  object_reader reader(from, "");
  topic_info value = read_topic(reader);
  BRAID_TRY_VOID(reader.finish());
  return value;
}

result<topic_page> page_from_json(const json& from) {
  topic_page value;
  object_reader reader(from, "");
  reader.read("metadataIndex", value.metadata_index);
  reader.read_list("topics", value.topics, read_topic);
  reader.read_if_there("next", value.next);
  BRAID_TRY_VOID(reader.finish());
  return value;
}

result<drain_state> drain_from_json(const json& from) {
  drain_state value;
  object_reader reader(from, "");
  reader.read("draining", value.draining);
  reader.read("lastBroker", value.last_broker);
  reader.read("leaderships", value.leaderships);
  BRAID_TRY_VOID(reader.finish());
  return value;
}

result<topic_creation> creation_request(const json& from) {
  topic_creation value;
  object_reader reader(from, "");
  reader.read("name", value.name);
  reader.read_if_there("partitions", value.partitions);
  reader.read_if_there("replicationFactor", value.replication_factor);
  reader.read_if_there("configs", value.configs);
  reader.read_if_there("validateOnly", value.validate_only);
  BRAID_TRY_VOID(reader.finish(true));
  return value;
}

result<topic_change> change_request(const std::string& topic, const json& from) {
  topic_change value;
  value.name = topic;
  object_reader reader(from, "");
  reader.read_if_there("id", value.id);
  reader.read_if_there("partitions", value.partitions);
  reader.read_if_there("configs", value.configs);
  reader.read_if_there("validateOnly", value.validate_only);
  BRAID_TRY_VOID(reader.finish(true));
  return value;
}

result<std::chrono::milliseconds> drain_request(const json& from) {
  std::int32_t timeout_ms = 0;
  object_reader reader(from, "");
  reader.read_if_there("timeoutMs", timeout_ms);
  BRAID_TRY_VOID(reader.finish(true));
  if (timeout_ms < 0) return fail(errc::invalid_request, "\"timeoutMs\" must not be below 0");
  return std::chrono::milliseconds(timeout_ms);
}

result<listener_info> listener_request(const std::string& name, const json& from) {
  listener_info value;
  value.name = name;
  object_reader reader(from, "");
  reader.read("host", value.host);
  reader.read("port", value.port);
  BRAID_TRY_VOID(reader.finish(true));
  return value;
}

}  // namespace braidmq::admin_client
