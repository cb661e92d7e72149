// Words for the objects of the Kubernetes API. Objects are JSON documents throughout and are never squeezed through
// structs on their way back to the server: fields of a newer API would vanish.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace braidmq::k8s {

using json = nlohmann::json;

// A kind as the API's paths name it. Constants of one program; compared by group and plural.
struct resource_type {
  std::string group;  // "" for the core group
  std::string version;
  std::string kind;
  std::string plural;
  bool namespaced = true;

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

struct object_key {
  std::string namespace_name;  // "" for kinds without namespaces
  std::string name;

  std::string to_string() const { return namespace_name.empty() ? name : namespace_name + "/" + name; }
  friend auto operator<=>(const object_key&, const object_key&) = default;
};

// Of the object's metadata; empty or 0 when absent. Bounded: views into `object`.
std::string_view name_of(const json& object);
std::string_view namespace_of(const json& object);
std::string_view uid_of(const json& object);
std::string_view resource_version_of(const json& object);  // opaque: compare for equality only
std::int64_t generation_of(const json& object);
bool is_deleting(const json& object);  // has a deletionTimestamp
object_key key_of(const json& object);

// The value at a path of member names ("spec", "replicas"), or null when any of them is missing or no object.
const json* find(const json& object, std::initializer_list<std::string_view> path);

}  // namespace braidmq::k8s
