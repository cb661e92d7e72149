#include "support/k8s/fake_client.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include <fmt/format.h>

#include "k8s/time.hpp"

namespace braidmq::k8s::testing {
namespace {

constexpr std::size_t max_history = 100'000;

struct stored_object {
  json object;
  field_ownership owners;
};

struct event {
  std::uint64_t version;
  std::string kind;  // group/plural; empty: a bookmark for all
  std::string type;
  json object;
  json before;
};

struct planned_failure {
  std::string verb, plural;
  error with;
  int times;
  bool carried_out;
};

std::string kind_key(const resource_type& type) {
  return type.group + "/" + type.plural;
}

error not_found(const resource_type& type, const object_key& key) {
  return {errc::not_found, fmt::format("{} \"{}\" not found", type.plural, key.name)};
}

std::vector<std::string> split_terms(const std::string& text) {
  std::vector<std::string> terms(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  std::erase(terms, "");
  return terms;
}

std::string trim(std::string text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

bool matches_term(const json& labels, const std::string& term) {
  const auto value_of = [&](const std::string& key) -> std::optional<std::string> {
    const auto found = labels.find(trim(key));
    return found == labels.end() ? std::nullopt : std::optional(found->get<std::string>());
  };
  for (const std::string& word : {" notin (", " in ("}) {
    const auto at = term.find(word);
    if (at == std::string::npos) continue;
    const auto value = value_of(term.substr(0, at));
    std::string inside = term.substr(at + word.size());
    inside.resize(inside.find(')'));
    const auto values = split_terms(inside);
    const bool listed = value && std::any_of(values.begin(), values.end(),
                                             [&](const auto& candidate) { return trim(candidate) == *value; });
    return word == " in (" ? listed : !listed;
  }
  if (const auto at = term.find("!="); at != std::string::npos) {
    return value_of(term.substr(0, at)) != trim(term.substr(at + 2));
  }
  if (const auto at = term.find('='); at != std::string::npos) {
    return value_of(term.substr(0, at)) == trim(term.substr(term.find_last_of('=') + 1));
  }
  if (trim(term).front() == '!') return !value_of(trim(term).substr(1));
  return value_of(term).has_value();
}

// Equality, inequality, presence and sets, as kubectl writes them, joined by commas outside parentheses.
bool matches_labels(const json& object, const std::string& selector) {
  static const json none = json::object();
  const json* labels = find(object, {"metadata", "labels"});
  const auto terms = split_terms(selector);
  return std::all_of(terms.begin(), terms.end(),
                     [&](const auto& term) { return matches_term(labels == nullptr ? none : *labels, term); });
}

bool matches_fields(const json& object, const std::string& selector) {
  for (const auto& term : split_terms(selector)) {
    const auto at = term.find('=');
    const std::string path = trim(term.substr(0, at));
    const std::string value = trim(term.substr(term.find_last_of('=') + 1));
    const json* place = &object;
    for (std::size_t from = 0; from <= path.size() && place != nullptr;) {
      const auto dot = std::min(path.find('.', from), path.size());
      place = find(*place, {path.substr(from, dot - from)});
      from = dot + 1;
    }
    if (place == nullptr || !place->is_string() || place->get<std::string>() != value) return false;
  }
  return true;
}

struct selection {
  const std::string& namespace_name;
  const std::string& labels;
  const std::string& fields;

  bool holds(const json& object) const {
    return !object.is_null() && (namespace_name.empty() || namespace_of(object) == namespace_name) &&
           matches_labels(object, labels) && matches_fields(object, fields);
  }
};

json partial(const json& object, bool metadata_only) {
  if (!metadata_only) return object;
  return {{"apiVersion", "meta.k8s.io/v1"}, {"kind", "PartialObjectMetadata"}, {"metadata", object.at("metadata")}};
}

// What a change of it raises the generation for.
json specification_of(json object) {
  object.erase("metadata");
  object.erase("status");
  return object;
}

bool has_finalizers(const json& object) {
  const json* finalizers = find(object, {"metadata", "finalizers"});
  return finalizers != nullptr && !finalizers->empty();
}

}  // namespace

struct fake_client::state {
  explicit state(const io::clock& c) : clock(c), keys(built_in_list_keys()) {}

  using objects = std::map<object_key, stored_object>;

  // --- all under the mutex
  std::optional<planned_failure> failure_of(const std::string& verb, const std::string& plural) {
    for (auto it = failures.begin(); it != failures.end(); ++it) {
      if (!it->verb.empty() && it->verb != verb) continue;
      if (!it->plural.empty() && it->plural != plural) continue;
      planned_failure found = *it;
      if (--it->times == 0) failures.erase(it);
      return found;
    }
    return std::nullopt;
  }

  void emit(const resource_type& type, const std::string& event_type, json object, json before) {
    history.push_back({version, kind_key(type), event_type, std::move(object), std::move(before)});
    if (history.size() > max_history) {
      oldest_version = history.front().version;
      history.pop_front();
    }
    changed.notify_all();
  }

  stored_object& insert(const resource_type& type, json object) {
    json& metadata = object["metadata"];
    if (!metadata.contains("name") && metadata.contains("generateName")) {
      metadata["name"] = fmt::format("{}{:05x}", metadata["generateName"].get<std::string>(), version);
    }
    if (!type.namespaced) metadata.erase("namespace");
    ++version;
    // As on a real server, UIDs tell nothing of the order in which objects were made.
    metadata["uid"] =
        fmt::format("{:08x}-0000-4000-8000-{:012x}", static_cast<std::uint32_t>(version) * 0x9e3779b1U, version);
    metadata["resourceVersion"] = std::to_string(version);
    metadata["generation"] = 1;
    metadata["creationTimestamp"] = format_time(clock.wall_ms());
    object["apiVersion"] = type.api_version();
    object["kind"] = type.kind;
    const object_key key = key_of(object);
    auto& kept = kinds[kind_key(type)].emplace(key, stored_object{object, field_ownership(keys)}).first->second;
    emit(type, "ADDED", std::move(object), nullptr);
    return kept;
  }

  // Stores `changed_object` under the rules for generation and no-ops, and lets go of it when its last finalizer went.
  void update(const resource_type& type, stored_object& kept, json next) {
    const json before = kept.object;
    json& metadata = next["metadata"];
    for (const char* name : {"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp"}) {
      if (before["metadata"].contains(name)) {
        metadata[name] = before["metadata"][name];
      }
    }
    if (specification_of(next) != specification_of(before)) {
      metadata["generation"] = generation_of(before) + 1;
    }
    if (next == before) return;
    ++version;
    metadata["resourceVersion"] = std::to_string(version);
    if (is_deleting(next) && !has_finalizers(next)) {
      kinds[kind_key(type)].erase(key_of(next));
      emit(type, "DELETED", std::move(next), before);
      return;
    }
    kept.object = next;
    emit(type, "MODIFIED", std::move(next), before);
  }

  void erase(const resource_type& type, const object_key& key) {
    auto node = kinds[kind_key(type)].extract(key);
    if (!node) return;
    ++version;
    json last = node.mapped().object;
    json before = last;
    last["metadata"]["resourceVersion"] = std::to_string(version);
    emit(type, "DELETED", std::move(last), std::move(before));
  }

  stored_object* find_object(const resource_type& type, const object_key& key) {
    auto& of_kind = kinds[kind_key(type)];
    const auto found = of_kind.find(key);
    return found == of_kind.end() ? nullptr : &found->second;
  }

  status may_create_in(const std::string& namespace_name) const {
    if (!terminating.contains(namespace_name)) return {};
    return fail(
        errc::forbidden,
        fmt::format("unable to create new content in namespace {} because it is being terminated", namespace_name));
  }

  void record(recorded_write write) { written.push_back(std::move(write)); }

  result<json> apply(const resource_type& type, const json& object, const apply_options& options);
  result<json> patch(const resource_type& type, const object_key& key, const json& operations,
                     const std::string& subresource);
  status remove(const resource_type& type, const object_key& key, const delete_options& options);

  const io::clock& clock;
  mutable std::mutex mutex;
  std::condition_variable changed;
  list_keys keys;
  std::map<std::string, objects> kinds;
  std::map<std::string, resource_type> types;
  std::uint64_t version = 100;
  std::uint64_t oldest_version = 0;  // events up to here are forgotten
  std::uint64_t break_count = 0;
  std::deque<event> history;
  std::vector<planned_failure> failures;
  std::vector<recorded_write> written;
  std::uint64_t read_count = 0;
  std::set<std::string> terminating;
};

fake_client::fake_client(const io::clock& clock) : state_(std::make_unique<state>(clock)) {}
fake_client::~fake_client() = default;

result<json> fake_client::get(const resource_type& type, const object_key& key) {
  std::lock_guard lock(state_->mutex);
  ++state_->read_count;
  if (const auto failure = state_->failure_of("get", type.plural)) return tl::unexpected(failure->with);
  const stored_object* found = state_->find_object(type, key);
  if (found == nullptr) return tl::unexpected(not_found(type, key));
  return found->object;
}

result<list_page> fake_client::list(const resource_type& type, const list_options& options) {
  std::lock_guard lock(state_->mutex);
  ++state_->read_count;
  if (const auto failure = state_->failure_of("list", type.plural)) return tl::unexpected(failure->with);
  // A token is "VERSION namespace/name": the version of the first page, and the last key that was given out.
  std::uint64_t version = state_->version;
  object_key after;
  if (!options.continue_token.empty()) {
    const auto space = options.continue_token.find(' ');
    const auto slash = options.continue_token.find('/', space);
    if (space == std::string::npos || slash == std::string::npos) {
      return fail(errc::invalid, "continue key is not valid");
    }
    version = std::stoull(options.continue_token.substr(0, space));
    if (version < state_->oldest_version) {
      return fail(errc::gone, "The provided continue parameter is too old");
    }
    after.namespace_name = options.continue_token.substr(space + 1, slash - space - 1);
    after.name = options.continue_token.substr(slash + 1);
  }
  list_page page;
  page.resource_version = std::to_string(version);
  const selection wanted{options.namespace_name, options.label_selector, options.field_selector};
  const auto limit = options.limit <= 0 ? std::size_t(-1) : static_cast<std::size_t>(options.limit);
  object_key last;
  for (const auto& [key, kept] : state_->kinds[kind_key(type)]) {
    if ((!options.continue_token.empty() && key <= after) || !wanted.holds(kept.object)) continue;
    if (page.items.size() == limit) {
      page.continue_token = fmt::format("{} {}/{}", version, last.namespace_name, last.name);
      break;
    }
    page.items.push_back(partial(kept.object, options.metadata_only));
    last = key;
  }
  return page;
}

result<json> fake_client::create(const resource_type& type, const json& object, const std::string& field_manager) {
  std::lock_guard lock(state_->mutex);
  state_->types[kind_key(type)] = type;
  state_->record({"create", type.plural, key_of(object), "", field_manager, object});
  const auto failure = state_->failure_of("create", type.plural);
  if (failure && !failure->carried_out) return tl::unexpected(failure->with);
  if (state_->find_object(type, key_of(object)) != nullptr) {
    return fail(errc::already_exists, fmt::format("{} \"{}\" already exists", type.plural, name_of(object)));
  }
  BRAID_TRY_VOID(state_->may_create_in(std::string(namespace_of(object))));
  json made = object;
  made.erase("status");
  stored_object& kept = state_->insert(type, std::move(made));
  kept.owners.note_update(json::object(), kept.object, field_manager + "/Update");
  if (failure) return tl::unexpected(failure->with);
  return kept.object;
}

result<json> fake_client::state::apply(const resource_type& type, const json& object, const apply_options& options) {
  const object_key key = key_of(object);
  if (options.field_manager.empty()) return fail(errc::invalid, "fieldManager is required for apply patch");
  if (object.value("apiVersion", "") != type.api_version() || object.value("kind", "") != type.kind) {
    return fail(errc::invalid, fmt::format("the object is not a {} of {}", type.kind, type.api_version()));
  }
  stored_object* kept = find_object(type, key);
  const std::string_view uid = uid_of(object), seen = resource_version_of(object);
  if (kept == nullptr) {
    if (!options.subresource.empty()) return tl::unexpected(not_found(type, key));
    if (!uid.empty() || !seen.empty()) return fail(errc::conflict, "the object that was meant is gone");
    BRAID_TRY_VOID(may_create_in(key.namespace_name));
  } else if ((!uid.empty() && uid != uid_of(kept->object)) ||
             (!seen.empty() && seen != resource_version_of(kept->object))) {
    return fail(errc::conflict, fmt::format("Operation cannot be fulfilled on {} \"{}\": the object has been modified",
                                            type.plural, key.name));
  }
  json wanted = object;
  if (options.subresource == "status") {
    wanted = {{"status", object.value("status", json::object())}};
  } else {
    wanted.erase("status");
  }
  const std::string manager = options.field_manager + "/Apply/" + options.subresource;
  if (kept == nullptr) {
    json made = {{"metadata", {{"name", key.name}}}};
    if (!key.namespace_name.empty()) made["metadata"]["namespace"] = key.namespace_name;
    field_ownership owners(keys);
    BRAID_TRY_VOID(owners.apply(made, wanted, manager, true));
    stored_object& inserted = insert(type, std::move(made));
    inserted.owners = std::move(owners);
    return inserted.object;
  }
  json next = kept->object;
  BRAID_TRY_VOID(kept->owners.apply(next, wanted, manager, options.force));
  update(type, *kept, next);
  stored_object* after = find_object(type, key);
  return after == nullptr ? next : after->object;
}

result<json> fake_client::apply(const resource_type& type, const json& object, const apply_options& options) {
  std::lock_guard lock(state_->mutex);
  state_->types[kind_key(type)] = type;
  state_->record({"apply", type.plural, key_of(object), options.subresource, options.field_manager, object});
  const auto failure = state_->failure_of("apply", type.plural);
  if (failure && !failure->carried_out) return tl::unexpected(failure->with);
  auto applied = state_->apply(type, object, options);
  if (failure) return tl::unexpected(failure->with);
  return applied;
}

result<json> fake_client::state::patch(const resource_type& type, const object_key& key, const json& operations,
                                       const std::string& subresource) {
  stored_object* kept = find_object(type, key);
  if (kept == nullptr) return tl::unexpected(not_found(type, key));
  const json before = kept->object;
  json next;
  try {
    next = before.patch(operations);
  } catch (const json::other_error& e) {  // nlohmann's kind for a test that failed
    return fail(errc::conflict, fmt::format("a test of the patch failed: {}", e.what()));
  } catch (const json::exception& e) {
    return fail(errc::invalid, e.what());
  }
  if (subresource == "status") {
    json with_status = before;
    with_status["status"] = next.value("status", json::object());
    next = std::move(with_status);
  } else if (before.contains("status")) {
    next["status"] = before["status"];
  } else {
    next.erase("status");
  }
  kept->owners.note_update(before, next, "patch/Update");
  update(type, *kept, next);
  const stored_object* after = find_object(type, key);
  return after == nullptr ? next : after->object;
}

result<json> fake_client::json_patch(const resource_type& type, const object_key& key, const json& operations,
                                     const std::string& subresource) {
  std::lock_guard lock(state_->mutex);
  state_->record({"patch", type.plural, key, subresource, "", operations});
  const auto failure = state_->failure_of("patch", type.plural);
  if (failure && !failure->carried_out) return tl::unexpected(failure->with);
  auto patched = state_->patch(type, key, operations, subresource);
  if (failure) return tl::unexpected(failure->with);
  return patched;
}

status fake_client::state::remove(const resource_type& type, const object_key& key, const delete_options& options) {
  stored_object* kept = find_object(type, key);
  if (kept == nullptr) return {};
  if ((!options.uid.empty() && options.uid != uid_of(kept->object)) ||
      (!options.resource_version.empty() && options.resource_version != resource_version_of(kept->object))) {
    return fail(errc::conflict,
                fmt::format("Precondition failed: {} \"{}\" is another object or has changed", type.plural, key.name));
  }
  if (!has_finalizers(kept->object)) {
    erase(type, key);
    return {};
  }
  if (is_deleting(kept->object)) return {};
  const json before = kept->object;
  ++version;
  kept->object["metadata"]["deletionTimestamp"] = format_time(clock.wall_ms());
  kept->object["metadata"]["generation"] = generation_of(before) + 1;
  kept->object["metadata"]["resourceVersion"] = std::to_string(version);
  emit(type, "MODIFIED", kept->object, before);
  return {};
}

status fake_client::remove(const resource_type& type, const object_key& key, const delete_options& options) {
  std::lock_guard lock(state_->mutex);
  json body = {{"propagationPolicy", options.propagation}};
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) body["preconditions"]["resourceVersion"] = options.resource_version;
  state_->record({"delete", type.plural, key, "", "", body});
  const auto failure = state_->failure_of("delete", type.plural);
  if (failure && !failure->carried_out) return tl::unexpected(failure->with);
  auto removed = state_->remove(type, key, options);
  if (failure) return tl::unexpected(failure->with);
  return removed;
}

result<watch_end> fake_client::watch(const resource_type& type, const watch_options& options,
                                     const std::atomic<bool>& cancel, const watch_handler& handler) {
  std::unique_lock lock(state_->mutex);
  if (const auto failure = state_->failure_of("watch", type.plural)) return tl::unexpected(failure->with);
  const selection wanted{options.namespace_name, options.label_selector, options.field_selector};
  std::deque<std::pair<std::string, json>> pending;
  std::uint64_t seen = state_->version;
  if (options.resource_version.empty() || options.resource_version == "0") {
    for (const auto& [key, kept] : state_->kinds[kind_key(type)]) {
      if (wanted.holds(kept.object)) pending.emplace_back("ADDED", kept.object);
    }
  } else {
    seen = std::stoull(options.resource_version);
    if (seen < state_->oldest_version) {
      return fail(errc::gone, fmt::format("too old resource version: {} ({})", seen, state_->oldest_version));
    }
  }
  const std::uint64_t breaks = state_->break_count;
  const auto until = io::system_clock().now() + options.timeout;
  for (;;) {
    if (cancel) return fail(errc::canceled, "watch canceled");
    if (state_->break_count != breaks) return fail(errc::network, "watch broken");
    if (seen < state_->oldest_version) return fail(errc::gone, "too old resource version");
    for (auto next = std::partition_point(state_->history.begin(), state_->history.end(),
                                          [&](const event& e) { return e.version <= seen; });
         next != state_->history.end(); ++next) {
      const event& e = *next;
      seen = e.version;
      if (e.kind.empty()) {
        pending.emplace_back("BOOKMARK", json{{"apiVersion", type.api_version()},
                                              {"kind", type.kind},
                                              {"metadata", {{"resourceVersion", std::to_string(e.version)}}}});
      }
      if (e.kind != kind_key(type)) continue;
      const bool is_in = e.type != "DELETED" && wanted.holds(e.object);
      const bool was_in = wanted.holds(e.before);
      if (!is_in && !was_in) continue;
      pending.emplace_back(!is_in ? "DELETED" : was_in ? "MODIFIED" : "ADDED", e.object);
    }
    while (!pending.empty()) {
      auto [event_type, object] = std::move(pending.front());
      pending.pop_front();
      json shown = event_type == "BOOKMARK" ? std::move(object) : partial(object, options.metadata_only);
      lock.unlock();
      const bool go_on = handler(event_type, std::move(shown));
      lock.lock();
      if (!go_on) return watch_end::stopped_by_handler;
    }
    if (io::system_clock().now() >= until) return watch_end::closed_by_server;
    // Only the caller's flag needs the short wait; changes notify.
    if (state_->version == seen) state_->changed.wait_for(lock, std::chrono::milliseconds(20));
  }
}

json fake_client::put(const resource_type& type, json object) {
  std::lock_guard lock(state_->mutex);
  state_->types[kind_key(type)] = type;
  stored_object* kept = state_->find_object(type, key_of(object));
  if (kept == nullptr) {
    stored_object& made = state_->insert(type, std::move(object));
    made.owners.note_update(json::object(), made.object, "somebody-else/Update");
    return made.object;
  }
  object["apiVersion"] = type.api_version();
  object["kind"] = type.kind;
  const json before = kept->object;
  kept->owners.note_update(before, object, "somebody-else/Update");
  const object_key key = key_of(object);
  state_->update(type, *kept, object);
  kept = state_->find_object(type, key);
  return kept == nullptr ? object : kept->object;
}

std::optional<json> fake_client::read(const resource_type& type, const object_key& key) const {
  std::lock_guard lock(state_->mutex);
  const stored_object* found = state_->find_object(type, key);
  return found == nullptr ? std::nullopt : std::optional(found->object);
}

std::vector<json> fake_client::read_all(const resource_type& type) const {
  std::lock_guard lock(state_->mutex);
  std::vector<json> objects;
  for (const auto& [key, kept] : state_->kinds[kind_key(type)]) objects.push_back(kept.object);
  return objects;
}

void fake_client::erase(const resource_type& type, const object_key& key) {
  std::lock_guard lock(state_->mutex);
  state_->erase(type, key);
}

void fake_client::collect_garbage() {
  std::lock_guard lock(state_->mutex);
  for (bool found = true; found;) {
    found = false;
    std::set<std::string, std::less<>> alive;
    for (const auto& [kind, of_kind] : state_->kinds) {
      for (const auto& [key, kept] : of_kind) alive.emplace(uid_of(kept.object));
    }
    std::vector<std::pair<std::string, object_key>> orphans;
    for (const auto& [kind, of_kind] : state_->kinds) {
      for (const auto& [key, kept] : of_kind) {
        const json* owners = braidmq::k8s::find(kept.object, {"metadata", "ownerReferences"});
        if (owners == nullptr || owners->empty() || is_deleting(kept.object)) continue;
        if (std::none_of(owners->begin(), owners->end(),
                         [&](const json& owner) { return alive.contains(owner.value("uid", "")); })) {
          orphans.emplace_back(kind, key);
        }
      }
    }
    for (const auto& [kind, key] : orphans) {
      found = true;
      (void)state_->remove(state_->types.at(kind), key, {});
    }
  }
}

void fake_client::terminate_namespace(const std::string& name) {
  std::lock_guard lock(state_->mutex);
  state_->terminating.insert(name);
}

void fake_client::merge_list_by(const std::string& field, std::vector<std::string> keys) {
  std::lock_guard lock(state_->mutex);
  state_->keys[field] = std::move(keys);
}

void fake_client::fail_next(const std::string& verb, const std::string& plural, error with, int times,
                            bool carried_out) {
  std::lock_guard lock(state_->mutex);
  state_->failures.push_back({verb, plural, std::move(with), times, carried_out});
}

void fake_client::compact() {
  std::lock_guard lock(state_->mutex);
  // A version of its own, so that whoever has seen everything up to now is behind as well.
  state_->oldest_version = ++state_->version;
  state_->history.clear();
  state_->changed.notify_all();
}

void fake_client::break_watches() {
  std::lock_guard lock(state_->mutex);
  ++state_->break_count;
  state_->changed.notify_all();
}

void fake_client::send_bookmarks() {
  std::lock_guard lock(state_->mutex);
  ++state_->version;
  state_->history.push_back({state_->version, "", "BOOKMARK", nullptr, nullptr});
  state_->changed.notify_all();
}

std::vector<recorded_write> fake_client::writes() const {
  std::lock_guard lock(state_->mutex);
  return state_->written;
}

void fake_client::clear_writes() {
  std::lock_guard lock(state_->mutex);
  state_->written.clear();
}

std::uint64_t fake_client::reads() const {
  std::lock_guard lock(state_->mutex);
  return state_->read_count;
}

}  // namespace braidmq::k8s::testing
