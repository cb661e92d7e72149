#include "reconcile/write.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "resources/compare.hpp"

namespace braidmq::reconcile {
namespace {

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "reconcile"; }
  std::string message(int) const override { return "the name belongs to another object"; }
};

std::string owner_uid_of(const json& object) {
  const auto* owners = k8s::find(object, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array() || owners->empty()) return {};
  const auto* uid = k8s::find(owners->front(), {"uid"});
  return uid != nullptr && uid->is_string() ? uid->get<std::string>() : std::string();
}

error name_taken(const k8s::resource_type& type, const object_key& key) {
  return {make_error_code(write_errc::name_taken),
          fmt::format("{} {} is not this operator's: delete or rename it, or give the BraidMQ object another name",
                      type.kind, key.to_string())};
}

// The cache shows only what has our label; what else has the name must not be taken over by force.
status check_name(environment& env, const k8s::resource_type& type, const json& wanted) {
  const auto key = k8s::key_of(wanted);
  const auto there = env.api.get(type, key);
  if (!there) return there.error().code == k8s::errc::not_found ? status() : tl::unexpected(there.error());
  if (api::read_owned(*there).owner_uid != owner_uid_of(wanted)) return tl::unexpected(name_taken(type, key));
  return {};
}

bool is_gone(const error& e) {
  return e.code == k8s::errc::not_found || e.code == k8s::errc::conflict;
}

// Statuses are remembered apart: a pass may write both.
k8s::resource_type status_of(k8s::resource_type type) {
  type.plural += "/status";
  return type;
}

bool same_conditions(const api::condition_list& old, const json& wanted) {
  const auto* list = k8s::find(wanted, {"conditions"});
  return list != nullptr && *list == api::to_json(old);
}

}  // namespace

std::error_code make_error_code(write_errc code) {
  static const category instance;
  return {static_cast<int>(code), instance};
}

k8s::object_reference reference(const k8s::resource_type& type, const api::row& row) {
  return {type.api_version(), type.kind, row.key, row.uid, row.resource_version};
}

result<bool> apply_if_different(environment& env, const k8s::resource_type& type, const json& wanted,
                                const api::owned_object* live) {
  const auto key = k8s::key_of(wanted);
  if (live == nullptr) {
    BRAID_TRY_VOID(check_name(env, type, wanted));
  } else {
    if (live->owner_uid != owner_uid_of(wanted)) return tl::unexpected(name_taken(type, key));
    if (env.writes.is_stale(type, key, live->resource_version, env.clock.now())) return false;
    if (resources::covers(live->body, wanted)) return false;
  }
  json sent = wanted;
  // What was looked at is meant, and no other object of its name: one that woke up late must not make it anew.
  if (live != nullptr) sent["metadata"]["uid"] = live->uid;
  BRAID_TRY(written, env.api.apply(type, sent, {.field_manager = std::string(field_manager)}));
  if (live != nullptr)
    env.writes.wrote(type, key, live->resource_version, std::string(k8s::resource_version_of(written)),
                     env.clock.now());
  return true;
}

status remove_if_there(environment& env, const k8s::resource_type& type, const api::owned_object* live) {
  if (live == nullptr || live->deleting) return {};
  auto removed = env.api.remove(type, live->key, {.uid = live->uid, .resource_version = live->resource_version});
  if (!removed && removed.error().code != k8s::errc::not_found) return removed;
  return {};
}

result<io::duration> write_status(environment& env, const k8s::resource_type& type, const api::row& row,
                                  std::uint64_t old_hash, const api::condition_list& old_conditions,
                                  const json& wanted) {
  if (api::hash_of_document(wanted) == old_hash) return io::duration{};
  const auto now = env.clock.now();
  const auto memory = status_of(type);
  if (env.writes.is_stale(memory, row.key, row.resource_version, now))
    return io::duration(std::chrono::milliseconds(100));
  if (same_conditions(old_conditions, wanted)) {
    if (const auto pause = env.writes.status_pause(type, row.key, now); pause > io::duration{}) return pause;
  }
  const json object = {{"apiVersion", type.api_version()},
                       {"kind", type.kind},
                       {"metadata", {{"name", row.key.name}, {"namespace", row.key.namespace_name}, {"uid", row.uid}}},
                       {"status", wanted}};
  const auto written =
      env.api.apply(type, object, {.field_manager = std::string(status_manager), .subresource = "status"});
  if (!written) {
    if (is_gone(written.error())) return io::duration{};
    return tl::unexpected(
        with_context(written.error(), fmt::format("status of {} {}", type.kind, row.key.to_string())));
  }
  env.writes.wrote(memory, row.key, row.resource_version, std::string(k8s::resource_version_of(*written)), now);
  env.writes.wrote_status(type, row.key, now);
  return io::duration{};
}

status add_finalizer(environment& env, const k8s::resource_type& type, const api::row& row,
                     std::string_view finalizer) {
  if (row.has_finalizer(finalizer)) return {};
  json operations =
      json::array({{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", row.resource_version}}});
  if (row.finalizers.empty())
    operations.push_back({{"op", "add"}, {"path", "/metadata/finalizers"}, {"value", {finalizer}}});
  else
    operations.push_back({{"op", "add"}, {"path", "/metadata/finalizers/-"}, {"value", finalizer}});
  BRAID_TRY(written, env.api.json_patch(type, row.key, operations));
  env.writes.wrote(type, row.key, row.resource_version, std::string(k8s::resource_version_of(written)),
                   env.clock.now());
  return {};
}

status remove_finalizer(environment& env, const k8s::resource_type& type, const api::row& row,
                        std::string_view finalizer) {
  const auto found = std::ranges::find(row.finalizers, finalizer);
  if (found == row.finalizers.end()) return {};
  const json operations = json::array(
      {{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", row.resource_version}},
       {{"op", "remove"}, {"path", fmt::format("/metadata/finalizers/{}", found - row.finalizers.begin())}}});
  const auto written = env.api.json_patch(type, row.key, operations);
  if (written) {
    env.writes.wrote(type, row.key, row.resource_version, std::string(k8s::resource_version_of(*written)),
                     env.clock.now());
    return {};
  }
  if (written.error().code == k8s::errc::not_found) return {};
  return tl::unexpected(written.error());
}

void conditions::set(std::string_view type, api::condition_status status, std::string_view reason,
                     std::string_view message) {
  api::set(list_,
           {.type = std::string(type),
            .status = status,
            .reason = std::string(reason),
            .message = std::string(message),
            .observed_generation = generation_},
           now_s_, before_);
}

void conditions::drop(std::string_view type) {
  std::erase_if(list_, [type](const api::condition& one) { return one.type == type; });
}

}  // namespace braidmq::reconcile
