#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admin_client/codec.hpp"
#include "ctl/commands.hpp"
#include "ctl/output.hpp"

namespace braidmq::ctl {
namespace {

std::string configs_text(const std::map<std::string, std::string>& configs) {
  std::string out;
  for (const auto& [key, value] : configs) out += (out.empty() ? "" : ",") + printable(key + "=" + value);
  return out.empty() ? "-" : out;
}

std::string topics_table(const std::vector<admin_client::topic_info>& topics) {
  std::vector<std::vector<std::string>> rows{{"NAME", "PARTITIONS", "REPLICATION", "ID", "CONFIGS"}};
  for (const auto& one : topics) {
    rows.push_back({printable(one.name), std::to_string(one.partitions), std::to_string(one.replication_factor),
                    one.id.empty() ? "-" : printable(one.id), configs_text(one.configs)});
  }
  return table(rows);
}

int show(context& with, const result<admin_client::topic_info>& topic) {
  if (!topic) return refuse(with, topic.error());
  with.out << (with.as == format::json ? pretty(admin_client::to_json(*topic)) : topics_table({*topic}));
  return exit_good;
}

}  // namespace

int list_topics(context& with) {
  auto client = with.connect(call_timeout);
  if (!client) return refuse(with, client.error());
  const auto topics = admin_client::all_topics(**client);
  if (!topics) return refuse(with, topics.error());
  if (with.as == format::json) {
    auto all = nlohmann::json::array();
    for (const auto& one : *topics) all.push_back(admin_client::to_json(one));
    with.out << pretty(all);
  } else {
    with.out << topics_table(*topics);
  }
  return exit_good;
}

int get_topic(context& with, const std::string& name) {
  auto client = with.connect(call_timeout);
  if (!client) return refuse(with, client.error());
  return show(with, (*client)->topic(name));
}

int create_topic(context& with, const admin_client::topic_creation& wanted) {
  auto client = with.connect(call_timeout);
  if (!client) return refuse(with, client.error());
  return show(with, (*client)->create_topic(wanted));
}

int alter_topic(context& with, const admin_client::topic_change& wanted) {
  auto client = with.connect(call_timeout);
  if (!client) return refuse(with, client.error());
  return show(with, (*client)->change_topic(wanted));
}

int delete_topic(context& with, const std::string& name, const std::optional<std::string>& id) {
  auto client = with.connect(call_timeout);
  if (!client) return refuse(with, client.error());
  const status done = (*client)->delete_topic(name, id);
  if (!done) return refuse(with, done.error());
  if (with.as == format::table) with.out << "topic " << printable(name) << " is deleted" << std::endl;
  return exit_good;
}

}  // namespace braidmq::ctl
