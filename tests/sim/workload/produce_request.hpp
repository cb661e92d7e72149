// One Produce request of several batches, and its answer, with everything noted in the history.
#pragma once

#include <vector>

#include "history.hpp"
#include "protocol/generated/produce.hpp"
#include "workload/client.hpp"

namespace braidmq::sim {

inline constexpr std::int16_t produce_version_with_ids = 13;

struct outgoing_batch {
  batch_number number = 0;
  std::string topic;
  bytes data;
  bool predecessors_acknowledged = true;
};

struct slice_answer {
  batch_number number = 0;
  protocol::error_code code = protocol::error_code::none;
  std::int64_t base = -1;
};

class produce_call {
 public:
  produce_call(history& log, std::vector<outgoing_batch> batches, std::uint64_t request, std::uint64_t connection,
               bool atomic = false);

  protocol::produce_request message(std::int16_t version, std::int16_t acks, std::int32_t timeout_ms) const;

  // One answer for each batch; no value: the connection ended first. Noted in the history.
  std::vector<slice_answer> take(const result<bytes>& body, std::int16_t version);

  const std::vector<outgoing_batch>& batches() const { return batches_; }

 private:
  history& log_;
  std::vector<outgoing_batch> batches_;
  bool atomic_;
  std::vector<std::size_t> attempts_;  // of each batch: its place in the history
};

}  // namespace braidmq::sim
