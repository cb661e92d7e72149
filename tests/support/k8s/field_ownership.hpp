// Server-side apply in small: which manager owns which field, what an apply changes, takes over and removes. Lists are
// merged by the keys that the built-in kinds use for lists of that name, and replaced whole otherwise.
// Source: KEP 555; structured-merge-diff's rules of ownership.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "k8s/object.hpp"

namespace braidmq::k8s::testing {

// One step of a path: "f:NAME" a member, "k:{...}" the list item with these keys, "v:..." the item of a set.
using field_path = std::vector<std::string>;
std::string to_string(const field_path& path);  // .spec.ports[{"port":9092}].name

// Field name of a list -> the members that tell its items apart; no members: a set of scalars.
using list_keys = std::map<std::string, std::vector<std::string>>;
const list_keys& built_in_list_keys();

// Every leaf of an object with its value. metadata's name, namespace and what the server sets are left out.
std::map<field_path, json> leaves_of(const json& object, const list_keys& keys);

class field_ownership {
 public:
  explicit field_ownership(const list_keys& keys) : keys_(&keys) {}

  // Merges `wanted` into `live`. `manager` is told apart by its operation and subresource too.
  status apply(json& live, const json& wanted, const std::string& manager, bool force);

  // After a write that was no apply: what changed belongs to `manager`, what is gone to nobody.
  void note_update(const json& before, const json& after, const std::string& manager);

  std::set<std::string> managers() const;

 private:
  bool owned_by_other(const field_path& path, const std::string& manager) const;

  const list_keys* keys_;
  std::map<std::string, std::set<field_path>> owned_;
};

}  // namespace braidmq::k8s::testing
