// A Kubernetes API in memory: resource versions, UIDs, generations, server-side apply with owners of fields, 409s,
// finalizers, watches. No controllers stand behind it (no pods come of a StatefulSet, nothing is garbage-collected
// unless collect_garbage() is called) and no schema: defaults and CEL are T1's.
//
// Threads: any. Watches block their callers, as the real ones do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/clock.hpp"
#include "k8s/client.hpp"
#include "k8s/list_page.hpp"
#include "support/k8s/field_ownership.hpp"

namespace braidmq::k8s::testing {

struct recorded_write {
  std::string verb;  // create, apply, patch, delete
  std::string plural;
  object_key key;
  std::string subresource;
  std::string field_manager;
  json body;  // the object, the patch's operations, or the DeleteOptions
};

class fake_client final : public client {
 public:
  explicit fake_client(const io::clock& clock = io::system_clock());
  ~fake_client() override;

  result<json> get(const resource_type& type, const object_key& key) override;
  result<list_page> list(const resource_type& type, const list_options& options) override;
  result<json> create(const resource_type& type, const json& object, const std::string& field_manager) override;
  result<json> apply(const resource_type& type, const json& object, const apply_options& options) override;
  result<json> json_patch(const resource_type& type, const object_key& key, const json& operations,
                          const std::string& subresource = "") override;
  status remove(const resource_type& type, const object_key& key, const delete_options& options) override;
  result<watch_end> watch(const resource_type& type, const watch_options& options, const std::atomic<bool>& cancel,
                          const watch_handler& handler) override;

  // --- As somebody else than the code under test; none of these is recorded, none fails.
  // Creates the object, or replaces it whole, status and all. Returns it as stored.
  json put(const resource_type& type, json object);
  std::optional<json> read(const resource_type& type, const object_key& key) const;
  std::vector<json> read_all(const resource_type& type) const;
  void erase(const resource_type& type, const object_key& key);  // finalizers or not
  void collect_garbage();  // deletes what has owners of which none is left, until nothing is found
  void terminate_namespace(const std::string& name);  // from now on creations there are forbidden
  void merge_list_by(const std::string& field, std::vector<std::string> keys);  // as x-kubernetes-list-map-keys

  // --- Trouble.
  // The next `times` calls of that verb (get, list, create, apply, patch, delete, watch) on that plural fail; "" stands
  // for any. Carried out before they fail: a write whose answer was lost.
  void fail_next(const std::string& verb, const std::string& plural, error with, int times = 1,
                 bool carried_out = false);
  void compact();        // watches and continue tokens from before now are gone
  void break_watches();  // those that live end with errc::network
  void send_bookmarks();

  // --- What the code under test did.
  std::vector<recorded_write> writes() const;
  void clear_writes();
  std::uint64_t reads() const;  // get and list

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace braidmq::k8s::testing
