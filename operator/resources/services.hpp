// The Services of a cluster.
#pragma once

#include "resources/names.hpp"

namespace braidmq::resources {

// Headless: names of brokers for peers and clients, also of brokers that are not ready, because peers must find each
// other to become so.
json peer_service(const api::braid_cluster& cluster);

// Where clients in the cluster begin: any ready broker. Nothing without an internal listener.
std::optional<json> bootstrap_service(const api::braid_cluster& cluster);

// One broker's listener on a port of its node. Traffic stays on that node: the advertised address is the node's.
json node_port_service(const api::braid_cluster& cluster, const api::braid_pool& pool, int ordinal,
                       const api::cluster_listener& listener);

}  // namespace braidmq::resources
