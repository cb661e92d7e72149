// Remembers our own writes until the cache has seen them: a reconciler that reads a row older than its last write would
// write again, or decide on what is no longer so. Also paces status writes that change no condition.
//
// Threads: any.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "io/clock.hpp"
#include "k8s/object.hpp"

namespace braidmq::reconcile {

class write_memory {
 public:
  // A write made `before` (a resourceVersion) into `after`.
  void wrote(const k8s::resource_type& type, const k8s::object_key& key, const std::string& before,
             const std::string& after, io::time_point now);

  // True while the cache still shows the version from before the write; for 5 s at most, should events be lost.
  bool is_stale(const k8s::resource_type& type, const k8s::object_key& key, const std::string& seen,
                io::time_point now);

  // How long a status write without a changed condition has to wait; 0: not at all.
  io::duration status_pause(const k8s::resource_type& type, const k8s::object_key& key, io::time_point now);
  void wrote_status(const k8s::resource_type& type, const k8s::object_key& key, io::time_point now);

 private:
  struct write {
    std::string before;
    io::time_point at;
  };

  template <class Value>
  using by_object = std::map<std::pair<std::string, k8s::object_key>, Value>;

  std::mutex mutex_;
  by_object<write> writes_;
  by_object<io::time_point> statuses_;
};

}  // namespace braidmq::reconcile
