#include "support/k8s/field_ownership.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "k8s/errc.hpp"

namespace braidmq::k8s::testing {
namespace {

const std::set<std::string>& server_set_metadata() {
  static const std::set<std::string> names{"name",          "namespace",       "uid",
                                           "generation",    "resourceVersion", "creationTimestamp",
                                           "managedFields", "generateName",    "deletionTimestamp",
                                           "selfLink"};
  return names;
}

bool is_scalar(const json& value) {
  return !value.is_object() && !value.is_array();
}

// How the items of the list `name` are told apart; null: the list is one value. A list whose items lack all keys is
// one value too, so that a field which happens to have a known name is no surprise. `ports` has two forms.
const std::vector<std::string>* keys_of(const std::string& name, const json& list, const list_keys& keys) {
  const auto found = keys.find(name);
  if (found == keys.end()) return nullptr;
  const bool set_of_scalars = found->second.empty();
  for (const json& item : list) {
    if (set_of_scalars ? !is_scalar(item) : !item.is_object()) return nullptr;
    if (!set_of_scalars &&
        std::none_of(found->second.begin(), found->second.end(), [&](const auto& key) { return item.contains(key); })) {
      return nullptr;
    }
  }
  return &found->second;
}

std::string item_step(const json& item, const std::vector<std::string>& keys) {
  if (keys.empty()) return "v:" + item.dump();
  json id = json::object();
  for (const auto& key : keys) {
    if (item.contains(key)) id[key] = item.at(key);
  }
  return "k:" + id.dump();
}

void collect(const json& value, const std::string& name, const list_keys& keys, field_path& path,
             std::map<field_path, json>& leaves) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [member, inner] : value.items()) {
      path.push_back("f:" + member);
      collect(inner, member, keys, path, leaves);
      path.pop_back();
    }
    return;
  }
  const auto* item_keys = value.is_array() && !value.empty() ? keys_of(name, value, keys) : nullptr;
  if (item_keys == nullptr) {
    leaves[path] = value;
    return;
  }
  for (const json& item : value) {
    path.push_back(item_step(item, *item_keys));
    collect(item, "", keys, path, leaves);
    path.pop_back();
  }
}

// The place of a list's item, or its end.
json::iterator find_item(json& list, const std::string& step) {
  const json wanted = json::parse(step.substr(2));
  return std::find_if(list.begin(), list.end(), [&](const json& item) {
    if (step.front() == 'v') return item == wanted;
    if (!item.is_object()) return false;
    for (const auto& [key, value] : wanted.items()) {
      const auto member = item.find(key);
      if (member == item.end() || *member != value) return false;
    }
    return true;
  });
}

void set_at(json& root, const field_path& path, const json& value) {
  json* place = &root;
  for (const auto& step : path) {
    if (step.front() == 'f') {
      if (!place->is_object()) *place = json::object();
      place = &(*place)[step.substr(2)];
      continue;
    }
    if (!place->is_array()) *place = json::array();
    const auto found = find_item(*place, step);
    if (found != place->end()) {
      place = &*found;
    } else {
      place->push_back(json::parse(step.substr(2)));
      place = &place->back();
    }
  }
  // An empty object as a value asks for the object to be there, not for its members to vanish.
  if (value.is_object() && value.empty() && place->is_object()) return;
  *place = value;
}

// Whether the path's last step is a member that tells its list item apart.
bool names_item(const field_path& path) {
  if (path.size() < 2 || path[path.size() - 2].front() != 'k') return false;
  return json::parse(path[path.size() - 2].substr(2)).contains(path.back().substr(2));
}

// Removes what is at the path, and the objects and lists that this leaves empty.
void remove_at(json& place, const field_path& path, std::size_t depth = 0) {
  const std::string& step = path[depth];
  const bool last = depth + 1 == path.size();
  if (step.front() == 'f') {
    if (!place.is_object()) return;
    const auto found = place.find(step.substr(2));
    if (found == place.end()) return;
    if (!last) remove_at(*found, path, depth + 1);
    if (last || ((found->is_object() || found->is_array()) && found->empty())) place.erase(found);
    return;
  }
  if (!place.is_array()) return;
  const auto found = find_item(place, step);
  if (found == place.end()) return;
  if (!last) remove_at(*found, path, depth + 1);
  if (last || (found->is_object() && found->empty())) place.erase(found);
}

const json* value_at(const json& root, const field_path& path) {
  const json* place = &root;
  for (const auto& step : path) {
    if (step.front() == 'f') {
      place = find(*place, {std::string_view(step).substr(2)});
      if (place == nullptr) return nullptr;
      continue;
    }
    if (!place->is_array()) return nullptr;
    json& list = const_cast<json&>(*place);
    const auto found = find_item(list, step);
    if (found == list.end()) return nullptr;
    place = &*found;
  }
  return place;
}

// Removes the list item that `path` names when nothing but its names is left of it.
void remove_bare_item(json& root, const field_path& path) {
  const field_path item(path.begin(), path.end() - 1);
  const json* value = value_at(root, item);
  if (value != nullptr && value->size() == json::parse(item.back().substr(2)).size()) remove_at(root, item);
}

}  // namespace

std::string to_string(const field_path& path) {
  std::string text;
  for (const auto& step : path) {
    text += step.front() == 'f' ? "." + step.substr(2) : "[" + step.substr(2) + "]";
  }
  return text;
}

const list_keys& built_in_list_keys() {
  static const list_keys keys{
      {"containers", {"name"}}, {"initContainers", {"name"}},    {"env", {"name"}},
      {"volumes", {"name"}},    {"volumeMounts", {"mountPath"}}, {"ports", {"port", "containerPort", "protocol"}},
      {"conditions", {"type"}}, {"ownerReferences", {"uid"}},    {"imagePullSecrets", {"name"}},
      {"finalizers", {}}};
  return keys;
}

std::map<field_path, json> leaves_of(const json& object, const list_keys& keys) {
  std::map<field_path, json> leaves;
  field_path path;
  for (const auto& [member, value] : object.items()) {
    if (member == "apiVersion" || member == "kind") continue;
    path = {"f:" + member};
    if (member != "metadata" || !value.is_object()) {
      collect(value, member, keys, path, leaves);
      continue;
    }
    for (const auto& [name, inner] : value.items()) {
      if (server_set_metadata().contains(name)) continue;
      path.push_back("f:" + name);
      collect(inner, name, keys, path, leaves);
      path.pop_back();
    }
  }
  return leaves;
}

bool field_ownership::owned_by_other(const field_path& path, const std::string& manager) const {
  return std::any_of(owned_.begin(), owned_.end(),
                     [&](const auto& entry) { return entry.first != manager && entry.second.contains(path); });
}

status field_ownership::apply(json& live, const json& wanted, const std::string& manager, bool force) {
  const auto wanted_leaves = leaves_of(wanted, *keys_);
  const auto live_leaves = leaves_of(live, *keys_);
  std::map<std::string, std::vector<field_path>> conflicts;
  for (const auto& [path, value] : wanted_leaves) {
    const auto there = live_leaves.find(path);
    if (there == live_leaves.end() || there->second == value) continue;
    for (const auto& [other, paths] : owned_) {
      if (other != manager && paths.contains(path)) conflicts[other].push_back(path);
    }
  }
  if (!conflicts.empty() && !force) {
    std::string words;
    for (const auto& [other, paths] : conflicts) {
      const std::string name = other.substr(0, other.find('/'));
      for (const auto& path : paths) words += fmt::format(" conflict with \"{}\": {}", name, to_string(path));
    }
    return fail(errc::conflict, fmt::format("Apply failed with conflicts:{}", words));
  }
  for (auto& [other, paths] : conflicts) {
    for (const auto& path : paths) owned_[other].erase(path);
  }
  auto& mine = owned_[manager];
  // The members that name a list's item go last, and with the item: nothing could find it without them.
  for (const bool naming : {false, true}) {
    for (const auto& path : mine) {
      if (names_item(path) != naming || wanted_leaves.contains(path) || owned_by_other(path, manager)) continue;
      if (naming) {
        remove_bare_item(live, path);
      } else {
        remove_at(live, path);
      }
    }
  }
  mine.clear();
  for (const auto& [path, value] : wanted_leaves) {
    set_at(live, path, value);
    mine.insert(path);
  }
  return {};
}

void field_ownership::note_update(const json& before, const json& after, const std::string& manager) {
  const auto old_leaves = leaves_of(before, *keys_);
  const auto new_leaves = leaves_of(after, *keys_);
  for (auto& [other, paths] : owned_) {
    std::erase_if(paths, [&](const field_path& path) {
      const auto was = old_leaves.find(path);
      const auto is = new_leaves.find(path);
      return is == new_leaves.end() || was == old_leaves.end() || was->second != is->second;
    });
  }
  auto& mine = owned_[manager];
  for (const auto& [path, value] : new_leaves) {
    const auto was = old_leaves.find(path);
    if (was == old_leaves.end() || was->second != value) mine.insert(path);
  }
}

std::set<std::string> field_ownership::managers() const {
  std::set<std::string> names;
  for (const auto& [manager, paths] : owned_) {
    if (!paths.empty()) names.insert(manager.substr(0, manager.find('/')));
  }
  return names;
}

}  // namespace braidmq::k8s::testing
