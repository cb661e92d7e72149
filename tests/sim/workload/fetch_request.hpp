// One Fetch request and its answer, noted in the history. Also used for the final reads.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "history.hpp"
#include "protocol/generated/fetch.hpp"

namespace braidmq::sim {

constexpr std::int16_t first_fetch_version_with_ids = 13;

struct wished_partition {
  std::string topic;
  topic_partition_id target;
  std::int64_t from = 0;
  std::int32_t max_bytes = 1 << 20;
};

struct fetch_wish {
  std::vector<wished_partition> partitions;  // those of one topic next to each other
  std::int32_t min_bytes = 1;
  std::int32_t max_bytes = 50 << 20;
  std::int32_t max_wait_ms = 5;
};

class fetch_call {
 public:
  fetch_call(history& log, fetch_wish wish, std::uint64_t connection);

  protocol::fetch_request message(std::int16_t version) const;

  // The next offset of each partition that was read without an error, or from an offset that is out of range.
  std::vector<std::pair<topic_partition_id, std::int64_t>> take(const result<bytes>& body, std::int16_t version);

  // After take(): what came, or null when it failed as a whole.
  const fetch_record* record() const { return taken_ ? &record_ : nullptr; }

 private:
  bool take_partition(const protocol::fetch_response::partition_data& answer, fetched_partition& into);

  history& log_;
  fetch_wish wish_;
  fetch_record record_;
  bool taken_ = false;
};

}  // namespace braidmq::sim
