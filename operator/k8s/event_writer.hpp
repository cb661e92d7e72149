// The event_recorder that writes to the API server. The first event of its kind is created at once; the same again
// within 5 minutes only counts, and the count is written as the event's series when the 5 minutes are over, so a storm
// costs two writes. What cannot be written is counted and forgotten: events tell a story, nothing depends on them.
//
// Threads: record() from any; the writes are made by start()'s thread, or by whoever calls write_due().
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "io/clock.hpp"
#include "io/random.hpp"
#include "k8s/client.hpp"
#include "k8s/event_recorder.hpp"
#include "k8s/stop_signal.hpp"

namespace braidmq::k8s {

struct event_writer_options {
  std::string controller;  // reportingController: example.io/operator
  std::string instance;    // reportingInstance: the pod's name
  std::size_t max_queued = 1000;
  std::size_t max_series = 1000;  // remembered at once
};

struct event_figures {
  std::uint64_t recorded = 0;
  std::uint64_t written = 0;
  std::uint64_t dropped = 0;  // the queue was full
  std::uint64_t failed = 0;   // refused or not reachable
  std::size_t queued = 0;
};

class event_writer final : public event_recorder {
 public:
  event_writer(client& api, event_writer_options options, const io::clock& clock = io::system_clock(),
               io::random_source& random = io::system_random());
  ~event_writer() override;  // stop()

  void record(const object_reference& regarding, event_type type, const std::string& reason, const std::string& action,
              const std::string& note) override;

  void start();
  void stop();  // writes what waits, series too

  void write_due();  // what waits, and series whose time is over
  void write_all();  // series whose time is not over too
  event_figures read_figures() const;

 private:
  struct series;
  using series_key = std::string;

  void run();
  void write_new();
  void write_series(bool all);
  json to_object(const object_reference& regarding, event_type type, const std::string& reason,
                 const std::string& action, const std::string& note);

  client& api_;
  const event_writer_options options_;
  const io::clock& clock_;
  io::random_source& random_;
  mutable std::mutex mutex_;
  std::deque<series_key> queue_;  // to be created
  std::map<series_key, std::unique_ptr<series>> series_;
  event_figures counts_;
  stop_signal stop_;
  std::thread thread_;  // tidy: allow(thread): blocks in requests
};

// At most `limit` bytes, cut before a character rather than in it.
std::string cut_text(std::string text, std::size_t limit);

}  // namespace braidmq::k8s
