// Reads the records of one topic: finds where to begin and where the log ends, then fetches batch by batch.
//
// Memory: one answer and one decoded batch at a time. Sees what is committed to the log, open or aborted transactions
// included (read_uncommitted). Nothing is repeated: what a broker refuses is an error.
//
// Errors: those of the client; invalid_request when topic, partition or offset is not there; refused with the broker's
// code; bad_answer for batches that are damaged, or that decode to more than a broker takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kafka_client/client.hpp"
#include "model/record.hpp"

namespace braidmq::kafka_client {

struct start_position {
  enum class kind { earliest, latest, offset, time };
  kind what = kind::earliest;
  std::int64_t value = 0;  // the offset, or milliseconds since 1970
};

struct consume_options {
  std::string topic;
  std::optional<std::int32_t> partition;  // none: all
  start_position from;
  bool follow = false;                          // no end: wait for what comes
  std::chrono::milliseconds max_wait{500};      // of one fetch, for a record to come
  std::size_t max_decoded_bytes = 128U << 20U;  // of one batch
};

// Views are good while the callback runs.
struct incoming_record {
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::int64_t timestamp_ms = -1;
  bool append_time = false;  // the broker's time, not the producer's
  model::record_view record;
};

class consumer {
 public:
  // Asks where everything begins and ends. `with` must outlive the consumer.
  static result<consumer> open(client& with, consume_options options);

  // Asks each broker that has something left once. `take` gets the records, in the order of each partition, until it
  // says false. False: `take` said so, or nothing is left.
  result<bool> poll(const std::function<bool(const incoming_record&)>& take);

 private:
  struct place {
    std::int32_t partition = 0;
    model::broker_id leader{-1};
    std::int64_t next = 0;
    std::int64_t end = 0;  // without `follow`: read up to here
  };

  consumer(client& with, consume_options options) : client_(&with), options_(std::move(options)) {}

  status find_partitions();
  status find_offsets();
  // Of the partitions that this broker leads, by their place in places_.
  result<std::vector<std::int64_t>> list_offsets(model::broker_id leader, const std::vector<std::size_t>& of,
                                                 std::int64_t timestamp);
  bool has_left(const place& one) const { return options_.follow || one.next < one.end; }
  result<bool> fetch(model::broker_id leader, const std::vector<std::size_t>& of,
                     const std::function<bool(const incoming_record&)>& take);
  result<bool> read(place& at, byte_view batches, const std::function<bool(const incoming_record&)>& take);
  std::string name_of(std::int32_t partition) const;

  client* client_;
  consume_options options_;
  std::vector<place> places_;  // in the order of the next request
  std::size_t polls_without_records_ = 0;
};

}  // namespace braidmq::kafka_client
