// What a reflector does next, as a pure state machine on a clock: list, then watch from the list's version, for ever.
//
//   - The first list asks for the most recent state. 410, in whichever form, leads to a list that is not older than
//     what was seen last; when that fails too, to the most recent state again.
//   - A watch that ends cleanly goes on from the version seen last. One that fails does so after a backoff: 800 ms
//     doubling to 30 s, stretched by chance up to twofold, forgotten after 2 minutes without failures.
//   - A clean end within a second and without an event is a failure too, or a broken proxy makes a hot loop.
//   - Three failed watches in a row without an event lead to a list: a version from before a restored backup is never
//     answered with 410.
//
// Source: client-go's reflector, whose behaviour API servers are built for. Threads: one owner.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "io/clock.hpp"
#include "io/random.hpp"
#include "k8s/client.hpp"

namespace braidmq::k8s {

struct reflector_timing {
  std::chrono::seconds watch_timeout_min{270};
  std::chrono::seconds watch_timeout_max{290};
  io::duration backoff_min = std::chrono::milliseconds(800);
  io::duration backoff_max = std::chrono::seconds(30);
  io::duration healthy_after = std::chrono::minutes(2);
  io::duration short_watch = std::chrono::seconds(1);
};

class reflector_plan {
 public:
  reflector_plan(const reflector_timing& timing, const io::clock& clock, io::random_source& random);

  struct step {
    enum class kind { list, watch } what = kind::list;
    io::duration wait{};           // before it
    std::string resource_version;  // to list not older than, or to watch from; empty: the most recent
    std::chrono::seconds timeout{};
  };
  step next();

  void listed(const std::string& resource_version);
  void list_failed(const error& why);

  // An event or a bookmark. The version is opaque: kept, never compared.
  void saw(const std::string& resource_version);

  // `in_stream`: the ERROR event that ended the watch. Returns a word for the figures: timeout, expired, too_short,
  // server_error, too_many_requests, network, silent, canceled, other.
  const char* watch_ended(const result<watch_end>& how, const std::optional<error>& in_stream, io::duration lived);

 private:
  void back_off();

  const reflector_timing timing_;
  const io::clock& clock_;
  io::random_source& random_;
  step::kind state_ = step::kind::list;
  std::string version_;  // seen last
  bool list_latest_ = true;
  bool had_event_ = false;  // in this watch
  int fruitless_watches_ = 0;
  io::duration wait_{};
  io::duration backoff_{};
  std::optional<io::time_point> failed_at_;
};

}  // namespace braidmq::k8s
