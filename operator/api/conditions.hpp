// Conditions of our kinds, as in Kubernetes' API conventions: one per type, a status, a reason in CamelCase, words for
// people. lastTransitionTime moves only when the status does, so that a message which says more costs no new transition
// and an unchanged list is no write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/reader.hpp"

namespace braidmq::api {

enum class condition_status : std::uint8_t { unknown, no, yes };

struct condition {
  std::string type;
  condition_status status = condition_status::unknown;
  std::string reason;
  std::string message;
  std::int64_t observed_generation = 0;
  std::int64_t transition_s = 0;
};

using condition_list = std::vector<condition>;

// What is wrong of a status is left out: it is ours and will be written anew.
condition_list read_conditions(const json& object);

const condition* find(const condition_list& list, std::string_view type);
bool is_true(const condition_list& list, std::string_view type);
bool is_false(const condition_list& list, std::string_view type);

// Sets one condition: its transition time is kept from `list` unless the status differs. Messages are cut at 1,024
// bytes.
void set(condition_list& list, condition wanted, std::int64_t now_s);
// The same for one of several lists that grow out of `before`: what counts is how the condition stood there, however
// often it has been set since.
void set(condition_list& list, condition wanted, std::int64_t now_s, const condition_list& before);

json to_json(const condition_list& list);

}  // namespace braidmq::api
