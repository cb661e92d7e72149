// Why the control plane refused a change.
#pragma once

#include <system_error>

namespace braidmq::metadata {

enum class errc {
  topic_exists = 1,
  invalid_topic_name,
  name_collision,              // '.' and '_' give two topics one name in metrics
  invalid_partitions,          // not 1..max
  invalid_replication_factor,  // neither -1 nor within the braid's
  unknown_topic,               // no topic of this name
  unknown_topic_id,            // no topic of this id, or the name belongs to another id
  invalid_config,              // unknown name or bad value: found before anything reaches the log
  invalid_request,             // contradicts itself
  not_controller,              // no leader of the metadata quorum here, now
  timed_out,
  stopped,
  broker_id_claimed,  // by another life of that broker
  not_founded,        // a broker that may not found a cluster has never heard of one
};

std::error_code make_error_code(errc code);

}  // namespace braidmq::metadata

template <>
struct std::is_error_code_enum<braidmq::metadata::errc> : std::true_type {};
