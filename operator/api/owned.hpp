// Rows of the kinds that the operator makes or looks at. Of what it makes there are few, and to see drift it must know
// them: their rows keep the document without managedFields and status. Pods and claims keep what is read of them.
#pragma once

#include "api/row.hpp"

namespace braidmq::api {

extern const k8s::resource_type stateful_set_type;
extern const k8s::resource_type service_type;
extern const k8s::resource_type config_map_type;
extern const k8s::resource_type secret_type;
extern const k8s::resource_type claim_type;  // PersistentVolumeClaim
extern const k8s::resource_type pod_type;
extern const k8s::resource_type budget_type;  // PodDisruptionBudget
extern const k8s::resource_type network_policy_type;
extern const k8s::resource_type pod_monitor_type;
extern const k8s::resource_type core_event_type;
extern const k8s::resource_type namespace_type;
extern const k8s::resource_type crd_type;

struct owned_object : row {
  std::string owner_uid;  // of the owner that is its controller
  text_map labels;
  json body;  // metadata (labels, annotations), spec or data; no status, no managedFields
};

owned_object read_owned(const json& object);

struct stateful_set : owned_object {
  std::int64_t observed_generation = 0;
  std::int32_t replicas = 0;  // status
  std::int32_t ready_replicas = 0;
};

stateful_set read_stateful_set(const json& object);

// Why a container is not running or ran before, as the kubelet says it.
struct container_state {
  std::string waiting_reason;  // ImagePullBackOff, CrashLoopBackOff, CreateContainerConfigError, ...
  std::string waiting_message;
  std::string last_reason;  // of the termination before: Error, OOMKilled, ...
  std::string last_message;
  std::int32_t last_exit_code = 0;
  std::int32_t restarts = 0;
  bool running = false;
};

struct pod : row {
  std::string owner_uid;
  text_map labels;
  std::string phase;
  std::string node;
  std::string pod_ip;
  std::string host_ip;
  std::string image;  // of the first container
  bool ready = false;
  bool scheduled = false;
  std::string unscheduled_reason;
  std::string unscheduled_message;
  std::int64_t unscheduled_s = 0;  // since when; 0: not told
  container_state broker;          // the first container
  std::vector<std::string> claims;
};

pod read_pod(const json& object);

// Metadata only: whether it is there, and whose data it holds.
struct claim : row {
  text_map labels;
};

claim read_claim_metadata(const json& object);

// For kinds of which only presence matters (Secret).
row read_metadata(const json& object);

}  // namespace braidmq::api
