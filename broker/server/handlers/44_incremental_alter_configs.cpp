// IncrementalAlterConfigs, versions 0 and 1, of topics: each resource all or nothing. Brokers take their configs from
// their file: nothing of theirs is changed here. Answers when the braid has applied the change.
#include <algorithm>
#include <set>

#include "server/error_mapping.hpp"
#include "server/handlers/config_resource.hpp"
#include "server/handlers/handlers.hpp"
#include "server/topic_settings.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::error_code;
using protocol::incremental_alter_configs_request;
using resource_wish = incremental_alter_configs_request::alter_configs_resource;
using config_wish = incremental_alter_configs_request::alterable_config;
using config_values = std::map<std::string, std::optional<std::string>>;

constexpr io::duration timeout = std::chrono::seconds(30);  // the request has none of its own

enum class operation : std::int8_t { set = 0, unset = 1, append = 2, subtract = 3 };

// The list after appending or subtracting; the list that counts now is what is set, else the default.
result<std::string> changed_list(const config_wish& wish, const topic_description& topic,
                                 const broker_options& options) {
  const topic_config_rule* rule = find_topic_config(wish.name);
  if (rule == nullptr) return unknown_topic_config(wish.name);
  if (rule->type != config_type::list) {
    return fail(metadata::errc::invalid_config,
                fmt::format("{} is no list: it can be set or deleted, not appended to or subtracted from", wish.name));
  }
  const auto set = topic.configs.find(wish.name);
  std::vector<std::string> words = words_of(set == topic.configs.end() ? rule->default_of(options) : set->second);
  for (const std::string& word : words_of(*wish.value)) {
    const auto at = std::ranges::find(words, word);
    if (wish.config_operation == static_cast<std::int8_t>(operation::subtract)) {
      if (at != words.end()) words.erase(at);
    } else if (at == words.end()) {
      words.push_back(word);
    }
  }
  return fmt::format("{}", fmt::join(words, ","));
}

result<config_values> read_configs(const resource_wish& resource, const topic_description& topic,
                                   const broker_options& options) {
  config_values values;
  for (const config_wish& wish : resource.configs) {
    const auto what = static_cast<operation>(wish.config_operation);
    if (what < operation::set || what > operation::subtract) {
      return fail(metadata::errc::invalid_request,
                  fmt::format("{}: unknown operation {}", wish.name, static_cast<int>(wish.config_operation)));
    }
    if (what != operation::unset && !wish.value) {
      return fail(metadata::errc::invalid_request, fmt::format("{}: no value to set", wish.name));
    }
    std::optional<std::string> value;
    if (what == operation::set) {
      value = wish.value;
    } else if (what != operation::unset) {
      BRAID_TRY(changed, changed_list(wish, topic, options));
      value = std::move(changed);
    }
    if (!values.emplace(wish.name, std::move(value)).second) {
      return fail(metadata::errc::invalid_request, fmt::format("{} stands in the request more than once", wish.name));
    }
  }
  return values;
}

result<topic_alteration> read_resource(const resource_wish& resource, broker& of) {
  if (resource.resource_type == resource_broker) {
    return fail(metadata::errc::invalid_request,
                "a broker's configs come from its file (on Kubernetes: from spec.config of its BraidCluster)");
  }
  if (resource.resource_type != resource_topic) {
    return fail(metadata::errc::invalid_request, no_such_resource(resource.resource_type));
  }
  const auto topic = of.topics().get(resource.resource_name);
  if (!topic) return fail(metadata::errc::unknown_topic, fmt::format("topic '{}'", resource.resource_name));
  BRAID_TRY(configs, read_configs(resource, *topic, of.options()));
  topic_alteration wanted;
  wanted.name = resource.resource_name;
  wanted.id = topic->id;
  wanted.configs = std::move(configs);
  return wanted;
}

}  // namespace

answer_of<protocol::incremental_alter_configs_response> incremental_alter_configs(
    request_ptr context, protocol::incremental_alter_configs_request request) {
  context->accept();  // slow, and nothing that follows on the connection depends on its place
  protocol::incremental_alter_configs_response response;
  const request_deadline deadline(*context, timeout);
  std::set<std::pair<std::int8_t, std::string>> seen;
  for (const resource_wish& resource : request.resources) {
    std::optional<error> failure;
    auto wanted = read_resource(resource, context->broker);
    if (!seen.emplace(resource.resource_type, resource.resource_name).second) {
      failure = error{metadata::errc::invalid_request, "the resource stands in the request more than once"};
    } else if (!wanted) {
      failure = wanted.error();
    } else {
      wanted->validate_only = request.validate_only;
      auto alter = [&context, &wanted, &deadline](topic_admin::described done) {
        context->broker.topics().alter(std::move(*wanted), deadline.left(), std::move(done));
      };
      const auto altered = co_await runtime::await_callback<result<topic_description>>(alter);
      if (!altered) failure = altered.error();
    }
    auto& answer = response.responses.emplace_back();
    answer.resource_type = resource.resource_type;
    answer.resource_name = resource.resource_name;
    if (failure) {
      answer.error_code = wire_error(failure->code);
      answer.error_message = failure->to_string();
    }
  }
  co_return response;
}

}  // namespace braidmq::server::handlers
