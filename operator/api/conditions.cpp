#include "api/conditions.hpp"

#include <algorithm>
#include <limits>

#include "api/row.hpp"

namespace braidmq::api {
namespace {

constexpr std::size_t max_message_bytes = 1024;

std::string_view text_of(condition_status status) {
  switch (status) {
    case condition_status::yes:
      return "True";
    case condition_status::no:
      return "False";
    case condition_status::unknown:
      break;
  }
  return "Unknown";
}

}  // namespace

condition_list read_conditions(const json& object) {
  condition_list list;
  std::vector<std::string> problems;
  const reader status(k8s::find(object, {"status"}), "status", problems);
  status.each("conditions", [&list](const reader& item) {
    condition one;
    one.type = item.text("type");
    const auto word = item.text("status");
    one.status = word == "True"    ? condition_status::yes
                 : word == "False" ? condition_status::no
                                   : condition_status::unknown;
    one.reason = item.text("reason");
    one.message = item.text("message");
    one.observed_generation = item.number("observedGeneration", 0, 0, std::numeric_limits<std::int64_t>::max());
    one.transition_s = parse_time(item.text("lastTransitionTime"));
    if (!one.type.empty() && find(list, one.type) == nullptr) list.push_back(std::move(one));
  });
  return list;
}

const condition* find(const condition_list& list, std::string_view type) {
  const auto found = std::ranges::find(list, type, [](const condition& c) { return std::string_view(c.type); });
  return found == list.end() ? nullptr : &*found;
}

bool is_true(const condition_list& list, std::string_view type) {
  const auto* found = find(list, type);
  return found != nullptr && found->status == condition_status::yes;
}

bool is_false(const condition_list& list, std::string_view type) {
  const auto* found = find(list, type);
  return found != nullptr && found->status == condition_status::no;
}

void set(condition_list& list, condition wanted, std::int64_t now_s) {
  const condition_list before = list;
  set(list, std::move(wanted), now_s, before);
}

void set(condition_list& list, condition wanted, std::int64_t now_s, const condition_list& before) {
  wanted.message = shorten(wanted.message, max_message_bytes);
  const auto* was = find(before, wanted.type);
  const bool same = was != nullptr && was->status == wanted.status && was->transition_s != 0;
  wanted.transition_s = same ? was->transition_s : now_s;
  const auto found = std::ranges::find(list, wanted.type, &condition::type);
  if (found == list.end())
    list.push_back(std::move(wanted));
  else
    *found = std::move(wanted);
}

json to_json(const condition_list& list) {
  json items = json::array();
  for (const auto& one : list) {
    items.push_back({{"type", one.type},
                     {"status", text_of(one.status)},
                     {"reason", one.reason},
                     {"message", one.message},
                     {"observedGeneration", one.observed_generation},
                     {"lastTransitionTime", format_time(one.transition_s)}});
  }
  return items;
}

}  // namespace braidmq::api
