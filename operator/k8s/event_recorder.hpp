// Events (events.k8s.io/v1) that tell the story of an object to `kubectl describe`. Identical ones within 5 minutes are
// one event whose series counts them; notes are cut at 1,024 bytes on a character; never blocks its caller: writes go
// through a bounded queue (1,000 events) and a thread of its own, and what does not fit is counted and dropped.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <string>

#include "k8s/object.hpp"

namespace braidmq::k8s {

struct object_reference {
  std::string api_version;
  std::string kind;
  object_key key;
  std::string uid;
  std::string resource_version;
};

enum class event_type { normal, warning };

class event_recorder {
 public:
  virtual ~event_recorder() = default;
  // `reason`: CamelCase, why; `action`: CamelCase, what was done or tried; `note`: a sentence for a person.
  virtual void record(const object_reference& regarding, event_type type, const std::string& reason,
                      const std::string& action, const std::string& note) = 0;
};

}  // namespace braidmq::k8s
