#include "server/fetch_session.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/check.hpp"

namespace braidmq::server {
namespace {

// With what allocator and trees add to each node.
constexpr std::size_t node_bytes = 48;
constexpr std::size_t partition_bytes = sizeof(fetch_session::partition) + sizeof(void*) + 2 * node_bytes;
std::size_t topic_bytes(const fetch_topic_key& topic) {
  return sizeof(fetch_topic_key) + topic.name.size() + 2 * node_bytes;
}

}  // namespace

fetch_wish wish_of(const protocol::fetch_request::fetch_partition& asked) {
  return {asked.fetch_offset, asked.partition_max_bytes, asked.current_leader_epoch, asked.last_fetched_epoch};
}

void fetch_session::next_epoch() {
  epoch_ = epoch_ == std::numeric_limits<std::int32_t>::max() ? 1 : epoch_ + 1;
}

fetch_session::partition& fetch_session::put(const fetch_topic_key& topic, model::partition_index index,
                                             const fetch_wish& wish) {
  const auto [entry, is_new_topic] = topics_.try_emplace(topic);
  if (is_new_topic) size_bytes_ += topic_bytes(topic);
  const auto [place, is_new] = entry->second.partitions.try_emplace(index);
  if (is_new) {
    size_bytes_ += partition_bytes;
    place->second = order_.insert(order_.end(), partition{&entry->first, index, wish});
  } else {
    place->second->wish = wish;
  }
  return *place->second;
}

void fetch_session::forget(const fetch_topic_key& topic, model::partition_index index) {
  const auto entry = topics_.find(topic);
  if (entry == topics_.end()) return;
  const auto place = entry->second.partitions.find(index);
  if (place == entry->second.partitions.end()) return;
  order_.erase(place->second);
  entry->second.partitions.erase(place);
  size_bytes_ -= partition_bytes;
  if (!entry->second.partitions.empty()) return;
  size_bytes_ -= topic_bytes(topic);
  topics_.erase(entry);
}

void fetch_session::keep_news(protocol::fetch_response& all) {
  auto known = order_.begin();
  const order::iterator end = order_.end();
  for (auto& topic : all.responses) {
    std::erase_if(topic.partitions, [&](const answer& said) {
      BRAID_CHECK(known != end && known->index == said.partition_index, "answers in another order than the session's");
      const auto of = known++;
      if (said.records && !said.records->empty()) order_.splice(end, order_, of);
      return !note_answer(*of, said);
    });
  }
  std::erase_if(all.responses, [](const auto& topic) { return topic.partitions.empty(); });
}

bool note_answer(fetch_session::partition& known, const fetch_session::answer& said) {
  const bool failed = said.error_code != protocol::error_code::none;
  const bool news = failed || (said.records && !said.records->empty()) || known.high_watermark != said.high_watermark ||
                    known.log_start != said.log_start_offset || said.diverging_epoch.epoch != model::no_epoch ||
                    said.diverging_epoch.end_offset.value() >= 0 || said.preferred_read_replica != model::no_broker;
  // After an error the client hears of the partition again as soon as the error is gone.
  known.high_watermark = failed ? model::offset(-1) : said.high_watermark;
  known.log_start = said.log_start_offset;
  return news;
}

}  // namespace braidmq::server
