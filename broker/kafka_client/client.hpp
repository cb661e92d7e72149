// A client of a cluster: it finds the topics that it is asked for and the brokers that lead their partitions. For
// command-line tools: small, blocking, and nothing is repeated behind the caller's back.
//
// Threads: an object serves one call at a time. Calls block within client_options::timeout each.
// Errors: kafka_client::errc.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/endpoint.hpp"
#include "kafka_client/connection.hpp"
#include "model/ids.hpp"
#include "protocol/errors.hpp"

namespace braidmq::kafka_client {

struct client_options {
  std::vector<io::endpoint> bootstrap;  // tried in this order
  connection_options connection;
  std::chrono::milliseconds timeout = std::chrono::seconds(10);  // of one call
};

struct partition_info {
  model::partition_index index{0};
  model::broker_id leader{-1};  // -1: none just now
  model::leader_epoch epoch{-1};
};

struct topic_info {
  std::string name;
  model::topic_id id;  // zero from a broker that knows no ids
  protocol::error_code error = protocol::error_code::none;
  std::vector<partition_info> partitions;  // by rising index
};

class client {
 public:
  // Connects to the first broker of the list that answers.
  static result<std::unique_ptr<client>> connect(client_options options);

  // What the cluster says of these topics, one each, in this order; an unknown one carries its error. Topics are not
  // made by asking.
  result<std::vector<topic_info>> topics(const std::vector<std::string>& names);

  // The connection to a broker that topics() named, opened when it is needed and kept. After a failed call of it,
  // forget() it.
  result<connection*> broker(model::broker_id id);
  void forget(model::broker_id id) { connections_.erase(id); }

  connection& bootstrap() { return bootstrap_; }  // the one that answered first
  const client_options& options() const { return options_; }

 private:
  client(client_options options, connection bootstrap)
      : options_(std::move(options)), bootstrap_(std::move(bootstrap)) {}

  client_options options_;
  connection bootstrap_;
  std::map<model::broker_id, io::endpoint> addresses_;
  std::map<model::broker_id, connection> connections_;
};

// "host:port,host:port"; invalid_request in words.
result<std::vector<io::endpoint>> parse_bootstrap(const std::string& text);

}  // namespace braidmq::kafka_client
