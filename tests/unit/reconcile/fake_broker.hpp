// A broker as its admin API shows it, in memory: topics with ids and entries of a metadata log, rules for what it
// refuses, and trouble on demand. One per test; clients come and go.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "admin_client/admin_client.hpp"

namespace braidmq::reconcile::testing {

// One of several brokers of a cluster; they share the topics.
struct fake_member {
  bool runs = false;
  std::int32_t id = 0;
  bool ready = false;
  std::string cluster_id;            // empty: not founded, or it does not take part
  std::vector<std::string> reasons;  // why it is not ready
  std::vector<std::int32_t> ids;     // of all that were registered
};

struct fake_broker {
  std::string cluster_id;  // empty: not founded
  std::string version = "0.1.0";
  std::int32_t id = 0;
  std::int32_t replication_factor = 1;
  std::uint64_t metadata_index = 10;
  bool reachable = true;
  bool has_leader = true;
  std::map<std::string, std::string> kept_as;          // configs that the broker writes in another way
  std::vector<admin_client::listener_info> listeners;  // of a broker alone
  std::map<std::int32_t, std::vector<admin_client::listener_info>> member_listeners;  // of one of several, by id
  std::map<std::string, admin_client::topic_info> topics;

  int unreachable_times = 0;                       // of the next calls
  bool lose_next_answer = false;                   // of the next change: it is made
  std::function<void(const char* what)> on_write;  // before each change: may throw
  std::function<void()> after_write;
  bool lists_topics = true;
  int lists = 0;  // pages given
  int calls = 0;
  int writes = 0;

  // As somebody else.
  void put_topic(const std::string& name, std::int32_t partitions, std::map<std::string, std::string> configs = {});
  void drop_topic(const std::string& name);
};

std::unique_ptr<admin_client::client> connect_to_fake(fake_broker& broker,
                                                      std::optional<fake_member> member = std::nullopt);

}  // namespace braidmq::reconcile::testing
