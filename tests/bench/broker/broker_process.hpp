// A broker as a process of its own, on free ports of the loopback interface and on folders below one folder. It ends
// with the object, and with this process, however that ends.
//
// Owner: one thread. Blocking, each call with a deadline. Errors: std::errc, with words and the end of the broker's
// log.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.hpp"
#include "io/clock.hpp"
#include "io/endpoint.hpp"

namespace braidmq::bench {

// What a row needs to know of the broker that it measures. What another broker can do as well is measured with nothing
// else, so that it can take this one's place.
struct target {
  io::endpoint kafka;
  pid_t pid = 0;
};

struct broker_options {
  std::string program;
  std::string folder;                       // data and wal below it; made when missing, kept at the end
  std::map<std::string, std::string> keys;  // of the configuration, beyond folders and listeners
  std::vector<std::string> environment;     // "NAME=value", beyond that of this process
};

class broker_process {
 public:
  // Waits until it says that it is ready.
  static result<std::unique_ptr<broker_process>> start(const broker_options& options);
  // The same in two steps, for one that is ready only together with others.
  static result<std::unique_ptr<broker_process>> spawn(const broker_options& options);
  status wait_until_ready();
  ~broker_process();
  broker_process(const broker_process&) = delete;
  broker_process& operator=(const broker_process&) = delete;

  const target& where() const { return where_; }
  const io::endpoint& admin() const { return admin_; }
  // From before the process was made to its word that it is ready.
  io::duration start_took() const { return start_took_; }

  // Waits so long; an error when it ends meanwhile.
  status stays_up_for(std::chrono::milliseconds time) const;

  void kill();    // SIGKILL; returns when it is gone
  status stop();  // SIGTERM; an error when it did not end well

 private:
  broker_process() = default;

  target where_;
  std::string log_;
  io::time_point begun_;
  io::endpoint admin_;
  io::duration start_took_{};
  int output_ = -1;
};

// User and system time of all its threads, those that have ended too; what getrusage says of a child that has ended.
result<double> cpu_seconds(pid_t pid);
// A line of /proc/PID/status: VmRSS, or VmHWM, which is the most it ever was. In MiB.
result<double> resident_mib(pid_t pid, const std::string& field);

}  // namespace braidmq::bench
