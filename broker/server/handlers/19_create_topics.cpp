// CreateTopics, versions 2 to 7. Answers when the braid has applied the partitions. Replication is the braid's: -1 or
// up to its factor; a manual assignment may only say where the partitions will be anyway.
#include <algorithm>
#include <set>

#include "server/error_mapping.hpp"
#include "server/handlers/handlers.hpp"
#include "server/topic_settings.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::create_topics_request;
using protocol::create_topics_response;
using protocol::error_code;
using created_topic = create_topics_response::creatable_topic_result;

void refuse(created_topic& answer, error_code code, std::string message) {
  answer.error_code = code;
  answer.error_message = std::move(message);
}

// What the request asks for, as the controller understands it; the answer says why when it is none.
std::optional<topic_creation> read_topic(const create_topics_request::creatable_topic& asked, model::broker_id self,
                                         created_topic& answer) {
  topic_creation topic;
  topic.name = asked.name;
  topic.partitions = asked.num_partitions;
  topic.replication_factor = asked.replication_factor;
  if (!asked.assignments.empty()) {
    if (asked.num_partitions != -1 || asked.replication_factor != -1) {
      refuse(answer, error_code::invalid_request,
             "a manual assignment excludes num_partitions and replication_factor: both must be -1");
      return std::nullopt;
    }
    std::set<std::int32_t> indexes;
    for (const auto& one : asked.assignments) {
      indexes.insert(one.partition_index.value());
      if (one.broker_ids != std::vector{self}) {
        refuse(answer, error_code::invalid_replica_assignment,
               fmt::format("partitions live where their braid lives: on broker {}", self));
        return std::nullopt;
      }
    }
    const auto count = static_cast<std::int32_t>(asked.assignments.size());
    if (static_cast<std::int32_t>(indexes.size()) != count || *indexes.begin() != 0 || *indexes.rbegin() != count - 1) {
      refuse(answer, error_code::invalid_replica_assignment, "partitions are numbered from 0 without a gap");
      return std::nullopt;
    }
    topic.partitions = count;
  }
  for (const auto& config : asked.configs) {
    if (config.value) topic.configs.insert_or_assign(config.name, *config.value);
  }
  return topic;
}

void describe(created_topic& answer, const topic_description& topic, const broker_options& options) {
  answer.topic_id = topic.id;
  answer.num_partitions = topic.partitions;
  answer.replication_factor = static_cast<std::int16_t>(topic.replication_factor);
  answer.configs.emplace();
  for (const shown_config& config : shown_configs(topic.configs, options)) {
    auto& shown = answer.configs->emplace_back();
    shown.name = config.rule->name;
    shown.value = config.value();
    shown.config_source = static_cast<std::int8_t>(config.source());
  }
}

std::set<std::string> names_given_twice(const create_topics_request& request) {
  std::set<std::string> seen;
  std::set<std::string> twice;
  for (const auto& topic : request.topics) {
    if (!seen.insert(topic.name).second) twice.insert(topic.name);
  }
  return twice;
}

std::int64_t partitions_of(const create_topics_request& request, const broker_options& options) {
  std::int64_t sum = 0;
  for (const auto& topic : request.topics) {
    const auto assigned = static_cast<std::int64_t>(topic.assignments.size());
    sum += assigned > 0 ? assigned : topic.num_partitions > 0 ? topic.num_partitions : options.default_partitions;
  }
  return sum;
}

}  // namespace

answer_of<protocol::create_topics_response> create_topics(request_ptr context,
                                                          protocol::create_topics_request request) {
  context->accept();  // slow, and nothing that follows on the connection depends on its place
  create_topics_response response;
  const broker_options& options = context->broker.options();
  const request_deadline deadline(*context, bounded_timeout(request.timeout_ms));
  const std::set<std::string> twice = names_given_twice(request);
  const bool too_many = partitions_of(request, options) > max_partitions_per_request;
  std::set<std::string> answered;
  for (const auto& asked : request.topics) {
    if (!answered.insert(asked.name).second) continue;
    created_topic answer;
    answer.name = asked.name;
    std::optional<topic_creation> topic;
    if (too_many) {
      refuse(answer, error_code::policy_violation, too_many_partitions());
    } else if (twice.contains(asked.name)) {
      refuse(answer, error_code::invalid_request, "the topic stands in the request more than once");
    } else {
      topic = read_topic(asked, options.id, answer);
    }
    if (topic) {
      topic->validate_only = request.validate_only;
      auto create = [&context, &topic, &deadline](topic_admin::described done) {
        context->broker.topics().create(std::move(*topic), deadline.left(), std::move(done));
      };
      const auto made = co_await runtime::await_callback<result<topic_description>>(create);
      if (made)
        describe(answer, *made, options);
      else
        refuse(answer, wire_error(made.error().code), made.error().to_string());
    }
    response.topics.push_back(std::move(answer));
  }
  co_return response;
}

}  // namespace braidmq::server::handlers
