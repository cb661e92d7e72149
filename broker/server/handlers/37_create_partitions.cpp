// CreatePartitions, versions 0 to 3: more partitions of topics that are there. Answers when the braid has applied them.
// An assignment may only say where the new partitions will be anyway: where their braid is.
#include <algorithm>
#include <set>

#include "server/error_mapping.hpp"
#include "server/handlers/handlers.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::create_partitions_request;
using protocol::error_code;
using grown_topic = protocol::create_partitions_response::create_partitions_topic_result;

void refuse(grown_topic& answer, error_code code, std::string message) {
  answer.error_code = code;
  answer.error_message = std::move(message);
}

// What CreatePartitions asks more than an alteration does: the count rises, and an assignment fits it.
bool is_allowed(const create_partitions_request::create_partitions_topic& asked, const topic_description& topic,
                model::broker_id self, grown_topic& answer) {
  if (asked.count <= topic.partitions) {
    refuse(answer, error_code::invalid_partitions,
           fmt::format("topic '{}' has {} partitions already; the new count must be larger", asked.name,
                       topic.partitions));
    return false;
  }
  if (!asked.assignments) return true;
  if (std::ssize(*asked.assignments) != asked.count - topic.partitions) {
    refuse(
        answer, error_code::invalid_replica_assignment,
        fmt::format("{} assignments for {} new partitions", asked.assignments->size(), asked.count - topic.partitions));
    return false;
  }
  const bool fits =
      std::ranges::all_of(*asked.assignments, [self](const auto& one) { return one.broker_ids == std::vector{self}; });
  if (!fits) {
    refuse(answer, error_code::invalid_replica_assignment,
           fmt::format("partitions live where their braid lives: on broker {}", self));
  }
  return fits;
}

std::set<std::string> names_given_twice(const create_partitions_request& request) {
  std::set<std::string> seen;
  std::set<std::string> twice;
  for (const auto& topic : request.topics) {
    if (!seen.insert(topic.name).second) twice.insert(topic.name);
  }
  return twice;
}

}  // namespace

answer_of<protocol::create_partitions_response> create_partitions(request_ptr context,
                                                                  protocol::create_partitions_request request) {
  context->accept();  // slow, and nothing that follows on the connection depends on its place
  protocol::create_partitions_response response;
  topic_admin& topics = context->broker.topics();
  const request_deadline deadline(*context, bounded_timeout(request.timeout_ms));
  const std::set<std::string> twice = names_given_twice(request);
  std::int64_t wanted_partitions = 0;
  for (const auto& asked : request.topics) {
    const auto topic = topics.get(asked.name);
    if (topic && asked.count > topic->partitions) wanted_partitions += asked.count - topic->partitions;
  }
  const bool too_many = wanted_partitions > max_partitions_per_request;
  std::set<std::string> answered;
  for (const auto& asked : request.topics) {
    if (!answered.insert(asked.name).second) continue;
    grown_topic answer;
    answer.name = asked.name;
    const auto topic = topics.get(asked.name);
    if (too_many) {
      refuse(answer, error_code::policy_violation, too_many_partitions());
    } else if (twice.contains(asked.name)) {
      refuse(answer, error_code::invalid_request, "the topic stands in the request more than once");
    } else if (!topic) {
      refuse(answer, error_code::unknown_topic_or_partition, "no such topic");
    } else if (is_allowed(asked, *topic, context->broker.options().id, answer)) {
      topic_alteration wanted;
      wanted.name = asked.name;
      wanted.id = topic->id;
      wanted.partitions = asked.count;
      wanted.validate_only = request.validate_only;
      auto alter = [&topics, &wanted, &deadline](topic_admin::described done) {
        topics.alter(std::move(wanted), deadline.left(), std::move(done));
      };
      const auto grown = co_await runtime::await_callback<result<topic_description>>(alter);
      if (!grown) refuse(answer, wire_error(grown.error().code), grown.error().to_string());
    }
    response.results.push_back(std::move(answer));
  }
  co_return response;
}

}  // namespace braidmq::server::handlers
