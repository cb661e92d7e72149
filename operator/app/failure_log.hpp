// Says in the log what a reconcile failed with: once for each object and message, and once more when it is over, so
// that a failure that is tried again and again can be read without being all that can be read.
//
// Threads: any.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "k8s/object.hpp"

namespace braidmq::operator_app {

class failure_log {
 public:
  // `why` empty: it went well.
  void note(const char* kind, const k8s::object_key& key, const std::string& why);

 private:
  static constexpr std::size_t max_remembered = 1000;

  std::mutex mutex_;
  std::map<std::pair<std::string, k8s::object_key>, std::string> said_;
};

}  // namespace braidmq::operator_app
