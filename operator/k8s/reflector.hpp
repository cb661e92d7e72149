// Keeps a sink equal to a kind on the API server: lists it in pages, watches it, and begins anew when the server has
// forgotten where it was (see reflector_plan). Each reflector has a thread and a connection of its own: one that is
// stuck holds up no other.
//
// Threads: run() is called once, on the caller's thread; the figures may be read from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "k8s/client.hpp"
#include "k8s/reflector_plan.hpp"
#include "k8s/stop_signal.hpp"

namespace braidmq::k8s {

struct reflector_options {
  resource_type type;
  std::string namespace_name;  // empty: all
  std::string label_selector;
  std::string field_selector;
  bool metadata_only = false;
  std::int64_t page_size = 500;
  reflector_timing timing;
};

// Called on the reflector's thread. Must not throw.
class reflector_sink {
 public:
  virtual ~reflector_sink() = default;
  virtual void list_started() = 0;  // what an unfinished list gave before is void
  virtual void list_item(json&& object) = 0;
  virtual void list_finished() = 0;
  virtual void changed(json&& object) = 0;  // added or modified
  virtual void deleted(json&& object) = 0;
};

struct reflector_figures {
  std::map<std::string, std::uint64_t> watch_restarts;  // by reason, see reflector_plan::watch_ended
  std::uint64_t lists = 0;
  std::uint64_t events = 0;
  std::int64_t last_event_unix_ms = 0;  // an event, bookmark or list; 0: none yet
  io::duration since_last_event{};
  // Since anything happened at all, a failure too: what is stuck shows here, an API server that is away does not.
  io::duration since_last_step{};
  bool synced = false;  // has been listed whole at least once
  std::string last_error;
};

class reflector {
 public:
  reflector(client& api, reflector_options options, reflector_sink& sink, const io::clock& clock = io::system_clock(),
            io::random_source& random = io::system_random());

  void run(stop_signal& stop);

  reflector_figures read_figures() const;

  // In words, when it has not taken a step for more than twice the time that a watch may last; that time is real, so it
  // is never an API server that is away.
  std::optional<std::string> stuck() const;

 private:
  void list(const reflector_plan::step& step, const std::atomic<bool>& cancel);
  void watch(const reflector_plan::step& step, const std::atomic<bool>& cancel);
  bool take_event(const std::string& type, json&& object, std::optional<error>& in_stream);
  void note_step();
  void note_event();
  void note_error(const error& why);

  client& api_;
  const reflector_options options_;
  reflector_sink& sink_;
  const io::clock& clock_;
  reflector_plan plan_;
  mutable std::mutex mutex_;
  reflector_figures counts_;
  io::time_point last_event_;
  io::time_point last_step_;
};

}  // namespace braidmq::k8s
