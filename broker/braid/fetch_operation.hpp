// One pass over the partitions of a fetch: takes all visible ends at one moment, then reads up to them. Whoever reads
// several partitions in one request therefore sees an entry in all of them or in none.
//
// Between two reads a partition may be deleted: it is looked up again each time.
//
// Threads: the braid's executor. Lives until its callback has run; the machine must outlive it (the replica sees to
// it).
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/unique_function.hpp"
#include "braid/fetch.hpp"
#include "braid/machine.hpp"

namespace braidmq::braid {

// none, unknown_partition, fenced_leader_epoch or unknown_leader_epoch.
std::error_code check_epoch(const partition::partition* target, model::leader_epoch asked, raft::term term);

class fetch_operation : public std::enable_shared_from_this<fetch_operation> {
 public:
  struct outcome {
    fetch_answer answer;
    std::size_t total_bytes = 0;
    bool short_of_memory = false;  // nothing was read, as others' answers hold all that there is
    bool answer_now = false;       // an error, a diverging log, or more to be had than the request's limits let through
  };

  // `done` runs later or inside this call.
  // `leads`: what is beyond the end here is beyond the end. Another replica has perhaps not heard of it yet.
  static void run(machine& state, raft::term term, bool leads, const fetch_request& request,
                  unique_function<void(outcome)> done);

 private:
  struct planned {
    std::optional<model::topic_partition_id> target;  // none: nothing to read (an error, or no bytes)
    storage::read_request read;
  };

  fetch_operation(machine& state, bool leads, const fetch_request& request, unique_function<void(outcome)> done)
      : state_(state), leads_(leads), left_bytes_(request.max_bytes), done_(std::move(done)) {}

  void plan(raft::term term, const fetch_request& request);
  void plan_slice(raft::term term, const fetch_slice& slice);
  void advance();
  bool start_read();  // true when the answer came inside the call
  void take(result<std::vector<bytes>> batches);

  machine& state_;
  bool leads_;
  std::size_t left_bytes_;
  unique_function<void(outcome)> done_;
  std::vector<planned> plan_;
  outcome outcome_;
  std::size_t next_ = 0;
  bool in_call_ = false;
  bool answered_in_call_ = false;
};

}  // namespace braidmq::braid
