// Requests to a Kubernetes API server, as an interface: the HTTP client is one implementation, tests have others.
//
// Threads: all members may be called from any thread; each call blocks its caller until the deadline of the client
// (30 s unless said otherwise) at most. Bodies are bounded (answers of more than 64 MiB are bad_response).
// Retries are inside, where they cannot do harm: reads, applies, and deletes with a UID are sent again after a broken
// connection, 429 (obeying Retry-After) and 5xx until the deadline; creates are not, because the first may have
// arrived.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "k8s/errc.hpp"
#include "k8s/object.hpp"

namespace braidmq::k8s {

struct list_options {
  std::string namespace_name;  // empty: all namespaces
  std::string label_selector;
  std::string field_selector;
  std::int64_t limit = 500;
  std::string continue_token;
  // "": the most recent state, read through a quorum. "0": whatever the server has cached.
  std::optional<std::string> resource_version;
  bool metadata_only = false;  // PartialObjectMetadata
};

struct list_page;  // holds json; defined in k8s/list_page.hpp

struct apply_options {
  std::string field_manager;
  bool force = true;        // take fields from other managers; false reports a conflict that names them
  std::string subresource;  // "" or "status"
};

struct delete_options {
  std::string uid;               // precondition; empty: none
  std::string resource_version;  // precondition; empty: none
  std::string propagation = "Background";
};

struct watch_options {
  std::string namespace_name;
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;
  std::chrono::seconds timeout{280};  // asked of the server; the connection is given 5 s more
  bool metadata_only = false;
};

// How a watch ended, when not by an error.
enum class watch_end { closed_by_server, stopped_by_handler };

class client {
 public:
  // An event: its type (ADDED, MODIFIED, DELETED, BOOKMARK, ERROR) and its object. Returns false to end the watch.
  using watch_handler = std::function<bool(const std::string& type, json&& object)>;

  virtual ~client() = default;

  virtual result<json> get(const resource_type& type, const object_key& key) = 0;  // always live, never cached
  virtual result<list_page> list(const resource_type& type, const list_options& options) = 0;
  virtual result<json> create(const resource_type& type, const json& object, const std::string& field_manager) = 0;
  // Server-side apply. `object` names apiVersion, kind, metadata.name (and namespace).
  virtual result<json> apply(const resource_type& type, const json& object, const apply_options& options) = 0;
  // RFC 6902. For lists that others edit too (finalizers): begin with a test of /metadata/resourceVersion; a test that
  // fails is `conflict`.
  virtual result<json> json_patch(const resource_type& type, const object_key& key, const json& operations,
                                  const std::string& subresource = "") = 0;
  // Done also when it was gone already. A failed precondition is `conflict`.
  virtual status remove(const resource_type& type, const object_key& key, const delete_options& options) = 0;

  // Blocks while the watch lives, on a connection of its own; the handler runs on the calling thread. `cancel`, when it
  // becomes true, ends it within a second.
  virtual result<watch_end> watch(const resource_type& type, const watch_options& options,
                                  const std::atomic<bool>& cancel, const watch_handler& handler) = 0;
};

}  // namespace braidmq::k8s
