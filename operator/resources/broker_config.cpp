#include "resources/broker_config.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api/owned.hpp"
#include "config/config.hpp"
#include "resources/compare.hpp"

namespace braidmq::resources {
namespace {

constexpr std::array<std::string_view, 18> owned_keys = {"broker.id",
                                                         "node.id",
                                                         "cluster.id",
                                                         "data.dir",
                                                         "log.dirs",
                                                         "wal.dir",
                                                         "listeners",
                                                         "advertised.listeners",
                                                         "admin.listener",
                                                         "braid.bootstrap",
                                                         "braid.broker.id.offset",
                                                         "braid.advertised.pushed",
                                                         "braid.secret.file",
                                                         "log.dir",
                                                         "controller.quorum.voters",
                                                         "braid.voters",
                                                         "controller.listener",
                                                         "braid.listener"};

// A double-quoted YAML scalar: JSON's are.
std::string quoted(const std::string& text) {
  return json(text).dump(-1, ' ', true, json::error_handler_t::replace);
}

// "spec.config:3:1: x" -> "spec.config: x": lines of a file that users do not see.
std::string without_place(std::string text, std::string_view name) {
  if (!text.starts_with(name)) return text;
  auto end = name.size();
  for (int i = 0; i < 2 && end < text.size() && text[end] == ':'; ++i) {
    const auto next = std::min(text.find_first_not_of("0123456789", end + 1), text.size());
    if (next == end + 1) break;
    end = next;
  }
  return text.erase(name.size(), end - name.size());
}

std::string listeners_of(const api::braid_cluster& cluster) {
  std::string all;
  for (const auto& one : cluster.listeners)
    all += fmt::format("{}{}://:{}", all.empty() ? "" : ",", broker_listener_name(one.name), one.port);
  return all;
}

std::string pushed_of(const api::braid_cluster& cluster) {
  std::string all;
  for (const auto& one : cluster.listeners) {
    if (one.kind == api::listener_kind::node_port) all += (all.empty() ? "" : ",") + broker_listener_name(one.name);
  }
  return all;
}

std::string user_yaml(const api::braid_cluster& cluster) {
  std::string text;
  for (const auto& [key, value] : cluster.config) {
    if (std::ranges::find(owned_keys, key) == owned_keys.end())
      text += fmt::format("{}: {}\n", quoted(key), quoted(value));
  }
  if (api::find(cluster.config, "log.format") == nullptr) text += "log.format: \"json\"\n";
  return text;
}

// Fixed addresses of internal listeners, with a host that stands for any pod's.
std::string example_advertised(const api::braid_cluster& cluster) {
  std::string all;
  for (const auto& one : cluster.listeners) {
    if (one.kind == api::listener_kind::internal)
      all += fmt::format("{}{}://broker:{}", all.empty() ? "" : ",", broker_listener_name(one.name), one.port);
  }
  return all;
}

}  // namespace

std::optional<std::string> config_problem(const api::braid_cluster& cluster) {
  constexpr std::string_view name = "spec.config";
  for (const auto& [key, value] : cluster.config) {
    if (std::ranges::find(owned_keys, key) != owned_keys.end())
      return fmt::format("{}: {} is set by the operator: remove it", name, key);
  }
  const identity any{.cluster_id = "", .existing = false};
  const auto read = config::parse_config(broker_yaml(cluster, any), std::string(name),
                                         {"advertised.listeners=" + example_advertised(cluster)});
  if (read) return std::nullopt;
  return without_place(read.error().message, name);
}

std::string broker_yaml(const api::braid_cluster& cluster, const identity& of) {
  std::string text = user_yaml(cluster);
  const auto add = [&text](std::string_view key, const std::string& value) {
    text += fmt::format("{}: {}\n", key, quoted(value));
  };
  add("cluster.id", of.cluster_id);
  add("braid.bootstrap", of.existing ? "existing" : "initial");
  add("data.dir", std::string(data_path));
  add("listeners", listeners_of(cluster));
  add("admin.listener", fmt::format(":{}", admin_port));
  if (const auto pushed = pushed_of(cluster); !pushed.empty()) add("braid.advertised.pushed", pushed);
  add("braid.secret.file", fmt::format("{}/{}", secret_path, secret_key));
  return text;
}

json config_map(const api::braid_cluster& cluster, const identity& of) {
  auto object = object_head(api::config_map_type, cluster.key.namespace_name, config_name(cluster.key.name),
                            cluster_labels(cluster), owner_reference(api::cluster_type, cluster));
  object["data"] = {{"broker.yaml", broker_yaml(cluster, of)}};
  seal(object);
  return object;
}

std::string config_hash(const api::braid_cluster& cluster, const identity& of) {
  auto as_founded = of;
  as_founded.existing = true;
  return revision_of(broker_yaml(cluster, as_founded));
}

}  // namespace braidmq::resources
