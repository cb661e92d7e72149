#include "k8s/object.hpp"

#include <nlohmann/json.hpp>

namespace braidmq::k8s {
namespace {

std::string_view text_of(const json& object, std::string_view member) {
  const json* value = find(object, {"metadata", member});
  return value != nullptr && value->is_string() ? std::string_view(value->get_ref<const std::string&>())
                                                : std::string_view();
}

}  // namespace

std::string_view name_of(const json& object) {
  return text_of(object, "name");
}

std::string_view namespace_of(const json& object) {
  return text_of(object, "namespace");
}

std::string_view uid_of(const json& object) {
  return text_of(object, "uid");
}

std::string_view resource_version_of(const json& object) {
  return text_of(object, "resourceVersion");
}

std::int64_t generation_of(const json& object) {
  const json* value = find(object, {"metadata", "generation"});
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

bool is_deleting(const json& object) {
  return !text_of(object, "deletionTimestamp").empty();
}

object_key key_of(const json& object) {
  return {.namespace_name = std::string(namespace_of(object)), .name = std::string(name_of(object))};
}

const json* find(const json& object, std::initializer_list<std::string_view> path) {
  const json* place = &object;
  for (const std::string_view member : path) {
    if (!place->is_object()) return nullptr;
    const auto found = place->find(member);
    if (found == place->end()) return nullptr;
    place = &*found;
  }
  return place;
}

}  // namespace braidmq::k8s
