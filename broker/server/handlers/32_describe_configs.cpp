// DescribeConfigs, versions 1 to 4: of topics, and of this broker what a client may want to know (read-only; it comes
// from the broker's file). Other resources have no configs here.
#include <algorithm>
#include <set>

#include "server/error_mapping.hpp"
#include "server/handlers/config_resource.hpp"
#include "server/handlers/handlers.hpp"
#include "server/topic_settings.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::describe_configs_request;
using protocol::error_code;
using resource_answer = protocol::describe_configs_response::describe_configs_result;
using config_answer = protocol::describe_configs_response::describe_configs_resource_result;

bool is_asked_for(const describe_configs_request::describe_configs_resource& resource, std::string_view name) {
  const auto& keys = resource.configuration_keys;
  return !keys || keys->empty() || std::ranges::find(*keys, name) != keys->end();
}

std::string documentation_of(const topic_config_rule& rule) {
  return rule.acts ? std::string(rule.about) : fmt::format("{} (without effect in this version)", rule.about);
}

void describe_topic(const topic_description& topic, const describe_configs_request& request,
                    const describe_configs_request::describe_configs_resource& resource, const broker_options& options,
                    resource_answer& answer) {
  for (shown_config& config : shown_configs(topic.configs, options)) {
    if (!is_asked_for(resource, config.rule->name)) continue;
    config_answer& shown = answer.configs.emplace_back();
    shown.name = config.rule->name;
    shown.value = config.value();
    shown.config_source = static_cast<std::int8_t>(config.source());
    shown.config_type = static_cast<std::int8_t>(config.rule->type);
    if (request.include_documentation) shown.documentation = documentation_of(*config.rule);
    if (!request.include_synonyms) continue;
    for (config_synonym& synonym : config.synonyms) {
      shown.synonyms.push_back(
          {std::move(synonym.name), std::move(synonym.value), static_cast<std::int8_t>(synonym.source)});
    }
  }
}

void describe_broker(const describe_configs_request::describe_configs_resource& resource, const broker_options& options,
                     resource_answer& answer) {
  struct shown_option {
    std::string name;
    std::string value;
    config_type type;
  };
  std::vector<shown_option> all{
      {"auto.create.topics.enable", options.auto_create_topics ? "true" : "false", config_type::boolean},
      {"broker.id", fmt::format("{}", options.id), config_type::int32},
      {"fetch.max.bytes", std::to_string(options.fetch_max_bytes), config_type::int32},
      {"max.incremental.fetch.session.cache.slots", std::to_string(options.fetch_sessions.max_sessions),
       config_type::int32},
      {"num.partitions", std::to_string(options.default_partitions), config_type::int32},
      {"producer.id.expiration.ms", std::to_string(options.producer_expiration.count()), config_type::int32},
  };
  for (const topic_config_rule& rule : topic_config_rules()) {
    if (rule.broker_value == nullptr) continue;
    all.push_back({std::string(rule.broker_name), rule.broker_value(options), rule.type});
  }
  std::ranges::sort(all, {}, &shown_option::name);
  for (shown_option& one : all) {
    if (!is_asked_for(resource, one.name)) continue;
    config_answer& shown = answer.configs.emplace_back();
    shown.name = std::move(one.name);
    shown.value = std::move(one.value);
    shown.read_only = true;
    shown.config_source = static_cast<std::int8_t>(config_source::broker);
    shown.config_type = static_cast<std::int8_t>(one.type);
  }
}

}  // namespace

answer_of<protocol::describe_configs_response> describe_configs(request_ptr context,
                                                                protocol::describe_configs_request request) {
  context->accept();  // a read has no place in the order of writes
  protocol::describe_configs_response response;
  const broker_options& options = context->broker.options();
  std::set<std::pair<std::int8_t, std::string>> answered;  // once each: a few bytes ask for many
  for (const auto& resource : request.resources) {
    if (!answered.emplace(resource.resource_type, resource.resource_name).second) continue;
    resource_answer& answer = response.results.emplace_back();
    answer.resource_type = resource.resource_type;
    answer.resource_name = resource.resource_name;
    const auto refuse = [&answer](error_code code, std::string message) {
      answer.error_code = code;
      answer.error_message = std::move(message);
    };
    if (resource.resource_type == resource_topic) {
      const auto topic = context->broker.topics().get(resource.resource_name);
      if (topic)
        describe_topic(*topic, request, resource, options, answer);
      else
        refuse(error_code::unknown_topic_or_partition, "no such topic");
    } else if (resource.resource_type == resource_broker) {
      if (resource.resource_name == fmt::format("{}", options.id))
        describe_broker(resource, options, answer);
      else if (!resource.resource_name.empty())  // empty: the defaults of all brokers, of which there are none
        refuse(error_code::invalid_request, fmt::format("this is broker {}: ask the broker itself", options.id));
    } else {
      refuse(error_code::invalid_request, no_such_resource(resource.resource_type));
    }
  }
  co_return response;
}

}  // namespace braidmq::server::handlers
