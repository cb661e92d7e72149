// The Services of a cluster.
#pragma once

#include "resources/names.hpp"

namespace braidmq::resources {

// Headless: names of brokers for peers and clients, also of brokers that are not ready, because peers must find each
// other to become so.
json peer_service(const api::braid_cluster& cluster, bool has_peers = false);

// Where clients in the cluster begin: any ready broker. Nothing without an internal listener.
std::optional<json> bootstrap_service(const api::braid_cluster& cluster);

// Where clients outside begin: any ready broker, by any node.
json node_bootstrap_service(const api::braid_cluster& cluster, const api::cluster_listener& listener);

// One broker's listener on a port of its node. Traffic that comes to that node stays there, because
// its address is the advertised one; with an advertised host of the user's, nodes forward.
json node_port_service(const api::braid_cluster& cluster, const api::braid_pool& pool, int ordinal,
                       const api::cluster_listener& listener);

}  // namespace braidmq::resources
