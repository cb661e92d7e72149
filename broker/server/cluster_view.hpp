// The cluster as this broker sees it at one moment: who leads, who replicates, who is there, and how clients reach
// them. A value: handlers take one per request and read it on any thread. What it says may be overtaken; clients find
// that out from NOT_LEADER_OR_FOLLOWER, and are told again. Source: KIP-392 (racks), KIP-951 (leaders in answers),
// KIP-1073 (fenced brokers).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "metadata/image.hpp"
#include "model/ids.hpp"
#include "multiraft/office.hpp"
#include "protocol/errors.hpp"

namespace braidmq::server {

// Where clients find a broker, by listener name.
struct endpoint {
  std::string listener;
  std::string host;
  std::uint16_t port = 0;
};

struct cluster_node {
  model::broker_id id{-1};
  std::string host;
  std::int32_t port = 0;
  std::optional<std::string> rack;
  bool alive = false;
};

// Of a partition: its braid's.
struct leadership {
  model::broker_id leader = model::no_broker;  // whom clients can reach and who serves, as far as is known
  model::leader_epoch epoch = model::no_epoch;
  protocol::error_code error = protocol::error_code::none;
  std::vector<model::broker_id> replicas;
  std::vector<model::broker_id> in_sync;
  std::vector<model::broker_id> offline;
};

struct cluster_view {
  model::broker_id self{-1};
  metadata::image_ptr image;
  multiraft::office braid;
  multiraft::office controller;
  std::vector<model::broker_id> voters;  // of the braid
  std::optional<endpoint> own;           // of this broker, by the listener of the request
  std::optional<std::string> own_rack;
  std::string listener;                              // of the request
  std::function<bool(model::broker_id)> alive = {};  // asked of brokers other than this one; none: all are

  bool is_alive(model::broker_id broker) const { return broker == self || !alive || alive(broker); }

  // None when it has no address for this listener.
  std::optional<cluster_node> find(model::broker_id broker) const;
  // All that have an address for this listener, by rising id.
  std::vector<cluster_node> nodes() const;

  // Of the quorum of the metadata log; no_broker when none is known.
  model::broker_id controller_id() const { return leader_of(controller); }
  // The braid's, when it is known to serve: one that has just been elected and is this broker itself does not yet.
  model::broker_id leader() const;
  model::leader_epoch epoch() const;

  // For people: "controller" leads the metadata quorum, "leader" and "replica" are a braid's.
  std::vector<std::string> roles_of(model::broker_id broker) const;

  // What Metadata says of every partition, in that version of the API: as Kafka's brokers say it.
  leadership of_partitions(std::int16_t metadata_version) const;

  // A replica that a consumer in this rack should read from instead of this broker, which leads (KIP-392).
  std::optional<model::broker_id> preferred_replica(const std::string& rack) const;

 private:
  static model::broker_id leader_of(const multiraft::office& of);
};

// Adds where to go to an answer that was refused with NOT_LEADER_OR_FOLLOWER, and the leader's address, once, to the
// response (KIP-951). Nothing when nobody is known to lead.
template <class Response, class Partition>
void name_leader(const cluster_view& view, Response& response, Partition& partition) {
  const model::broker_id leader = view.leader();
  if (leader == model::no_broker) return;
  partition.current_leader.leader_id = leader;
  partition.current_leader.leader_epoch = view.epoch();
  if (!response.node_endpoints.empty()) return;
  if (auto node = view.find(leader)) {
    response.node_endpoints.push_back({leader, std::move(node->host), node->port, std::move(node->rack)});
  }
}

}  // namespace braidmq::server
