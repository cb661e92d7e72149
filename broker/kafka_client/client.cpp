#include "kafka_client/client.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "protocol/generated/metadata.hpp"

namespace braidmq::kafka_client {
namespace {

topic_info info_of(protocol::metadata_response::metadata_response_topic&& topic) {
  topic_info info;
  info.name = topic.name.value_or("");
  info.id = topic.topic_id;
  info.error = topic.error_code;
  for (const auto& one : topic.partitions) {
    info.partitions.push_back({one.partition_index, one.leader_id, one.leader_epoch});
  }
  std::ranges::sort(info.partitions, {}, &partition_info::index);
  return info;
}

}  // namespace

result<std::unique_ptr<client>> client::connect(client_options options) {
  error last{make_error_code(errc::invalid_request), "no bootstrap broker is given"};
  for (const io::endpoint& one : options.bootstrap) {
    auto made = connection::open(one, options.connection);
    if (made) return std::unique_ptr<client>(new client(std::move(options), std::move(*made)));
    last = made.error();
  }
  return tl::unexpected(std::move(last));
}

result<std::vector<topic_info>> client::topics(const std::vector<std::string>& names) {
  constexpr std::int16_t can_leave_uncreated = 4;  // allow_auto_topic_creation
  BRAID_TRY(version, bootstrap_.version_for(protocol::metadata_request::api_key,
                                            std::numeric_limits<std::int16_t>::max(), can_leave_uncreated));
  protocol::metadata_request request;
  request.allow_auto_topic_creation = false;
  request.topics.emplace();
  for (const std::string& name : names) request.topics->emplace_back().name = name;
  BRAID_TRY(answer, bootstrap_.call<protocol::metadata_response>(request, version, options_.timeout));
  for (const auto& broker : answer.brokers) {
    if (broker.port <= 0 || broker.port > 65'535) {
      return fail(errc::bad_answer, fmt::format("broker {} at port {}", broker.node_id, broker.port));
    }
    addresses_[broker.node_id] = {broker.host, static_cast<std::uint16_t>(broker.port)};
  }
  std::map<std::string, topic_info> known;
  for (auto& topic : answer.topics) {
    topic_info info = info_of(std::move(topic));
    known.insert_or_assign(info.name, std::move(info));
  }
  std::vector<topic_info> found;
  for (const std::string& name : names) {
    const auto one = known.find(name);
    if (one == known.end()) return fail(errc::bad_answer, fmt::format("nothing was said of topic '{}'", name));
    found.push_back(one->second);
  }
  return found;
}

result<connection*> client::broker(model::broker_id id) {
  if (const auto open = connections_.find(id); open != connections_.end()) return &open->second;
  const auto address = addresses_.find(id);
  if (address == addresses_.end()) return fail(errc::unreachable, fmt::format("nobody says where broker {} is", id));
  BRAID_TRY(made, connection::open(address->second, options_.connection));
  return &connections_.emplace(id, std::move(made)).first->second;
}

result<std::vector<io::endpoint>> parse_bootstrap(const std::string& text) {
  std::vector<io::endpoint> all;
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const auto one = io::parse_endpoint(rest.substr(0, comma));
    if (!one) return fail(errc::invalid_request, one.error().message);
    if (one->host.empty() || one->port == 0) {
      return fail(errc::invalid_request, fmt::format("\"{}\" is not of the form host:port", rest.substr(0, comma)));
    }
    all.push_back(*one);
    if (comma == std::string_view::npos) return all;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace braidmq::kafka_client
