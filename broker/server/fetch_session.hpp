// One incremental fetch session (KIP-227): the partitions that a consumer reads, so that its requests name only what
// has changed since the one before, and its answers only partitions with news.
//
// The order of the partitions is the order in which they are read. One that gave records goes to the end, so that under
// the bound of an answer the others come first next time: a hot partition does not starve them.
//
// Threads: those of its cache. What is iterated is not changed meanwhile: each request that changes it moves the epoch,
// and an answer to an older epoch is refused.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>

#include "model/ids.hpp"
#include "protocol/generated/fetch.hpp"

namespace braidmq::server {

inline constexpr std::int16_t first_fetch_version_with_topic_ids = 13;

// By name before version 13, by id from there on; the other one is empty.
struct fetch_topic_key {
  std::string name;
  model::topic_id id;
  friend auto operator<=>(const fetch_topic_key&, const fetch_topic_key&) = default;
};

// What a client wants of one partition.
struct fetch_wish {
  model::offset from;
  std::int32_t max_bytes = 0;
  model::leader_epoch current_epoch = model::no_epoch;
  model::leader_epoch last_fetched_epoch = model::no_epoch;
};
fetch_wish wish_of(const protocol::fetch_request::fetch_partition& asked);

class fetch_session {
 public:
  using answer = protocol::fetch_response::partition_data;

  struct partition {
    const fetch_topic_key* topic = nullptr;  // lives as long as the partition
    model::partition_index index;
    fetch_wish wish;
    // As the client was told last; -1: what comes next is news.
    model::offset high_watermark{-1};
    model::offset log_start{-1};
  };
  using order = std::list<partition>;

  fetch_session(std::int32_t id, bool by_id) : id_(id), by_id_(by_id) {}
  fetch_session(const fetch_session&) = delete;
  fetch_session& operator=(const fetch_session&) = delete;

  std::int32_t id() const { return id_; }
  bool uses_topic_ids() const { return by_id_; }
  const order& partitions() const { return order_; }
  std::size_t size() const { return order_.size(); }
  std::size_t size_bytes() const { return size_bytes_; }  // about what it takes of memory

  // Of the request that is expected next; the one that made the session had 0.
  std::int32_t epoch() const { return epoch_; }
  void next_epoch();

  // New ones come last, known ones get the new wish.
  partition& put(const fetch_topic_key& topic, model::partition_index index, const fetch_wish& wish);
  void forget(const fetch_topic_key& topic, model::partition_index index);

  // The answers of all partitions in their order: leaves those with news, remembers what the client hears, and moves
  // partitions that gave records to the end.
  void keep_news(protocol::fetch_response& all);

 private:
  struct topic_entry {
    std::map<model::partition_index, order::iterator> partitions;
  };

  std::int32_t id_;
  bool by_id_;
  std::int32_t epoch_ = 1;
  std::size_t size_bytes_ = 0;
  order order_;
  std::map<fetch_topic_key, topic_entry> topics_;
};

// Remembers what the client hears of a partition; whether it is news.
bool note_answer(fetch_session::partition& known, const fetch_session::answer& said);

}  // namespace braidmq::server
