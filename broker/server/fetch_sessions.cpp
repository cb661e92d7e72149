#include "server/fetch_sessions.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;

constexpr std::int32_t initial_epoch = 0;
constexpr std::int32_t final_epoch = -1;
constexpr io::duration eviction_age = std::chrono::minutes(2);

// With its place in the tables of the cache.
constexpr std::size_t session_bytes = sizeof(fetch_session) + 512;
std::size_t cost_of(const fetch_session& session) {
  return session_bytes + session.size_bytes();
}

bool by_id(std::int16_t version) {
  return version >= first_fetch_version_with_topic_ids;
}

template <class Topic>
fetch_topic_key key_of(const Topic& topic, std::int16_t version) {
  return by_id(version) ? fetch_topic_key{{}, topic.topic_id} : fetch_topic_key{topic.topic, {}};
}

}  // namespace

fetch_session_limits share_of_one(const fetch_session_limits& all, std::size_t shards) {
  fetch_session_limits one{all.max_sessions / shards, all.max_bytes / shards};
  if (all.max_sessions > 0) one.max_sessions = std::max<std::size_t>(one.max_sessions, 1);
  return one;
}

opened_fetch fetch_sessions::open(const protocol::fetch_request& request, std::int16_t version) {
  if (request.session_epoch != initial_epoch && request.session_epoch != final_epoch) return go_on(request, version);
  // A full request ends the session that it names.
  remove(request.session_id);
  opened_fetch full;
  full.wants_session = request.session_epoch == initial_epoch;
  return full;
}

opened_fetch fetch_sessions::go_on(const protocol::fetch_request& request, std::int16_t version) {
  opened_fetch opened;
  const auto found = entries_.find(request.session_id);
  if (found == entries_.end()) {
    opened.error = error_code::fetch_session_id_not_found;
    return opened;
  }
  entry& known = found->second;
  fetch_session& session = *known.session;
  if (request.session_epoch != session.epoch()) {
    opened.error = error_code::invalid_fetch_session_epoch;
    return opened;
  }
  if (session.uses_topic_ids() != by_id(version)) {
    opened.error = error_code::fetch_session_topic_id_error;
    return opened;
  }
  uncount(known);
  for (const auto& topic : request.topics) {
    const fetch_topic_key key = key_of(topic, version);
    for (const auto& partition : topic.partitions) session.put(key, partition.partition, wish_of(partition));
  }
  for (const auto& topic : request.forgotten_topics_data) {
    const fetch_topic_key key = key_of(topic, version);
    for (const model::partition_index partition : topic.partitions) session.forget(key, partition);
  }
  // Whoever still reads for an earlier request must not answer with what the session had then, however this one ends.
  session.next_epoch();
  if (session.size() == 0) {
    entries_.erase(found);
    return opened;  // of what the request names, which may be nothing
  }
  if (!make_room(session.size(), cost_of(session), 0)) {
    // It has outgrown the room: the client sends all of it, and will get no session for it.
    entries_.erase(found);
    ++stats_.evicted;
    opened.error = error_code::fetch_session_id_not_found;
    return opened;
  }
  known.used = clock_.now();
  count(known);
  opened.session = known.session;
  opened.epoch = session.epoch();
  return opened;
}

void fetch_sessions::finish(const opened_fetch& opened, const protocol::fetch_request& request, std::int16_t version,
                            protocol::fetch_response& response) {
  if (opened.session == nullptr) {
    response.session_id = opened.wants_session ? create(request, version, response) : 0;
    return;
  }
  response.session_id = opened.session->id();
  if (opened.session->epoch() == opened.epoch) return opened.session->keep_news(response);
  // Another request went on with the session meanwhile: what this one read may be of partitions that have left it.
  response.responses.clear();
  response.error_code = error_code::invalid_fetch_session_epoch;
}

std::int32_t fetch_sessions::create(const protocol::fetch_request& request, std::int16_t version,
                                    const protocol::fetch_response& response) {
  if (limits_.max_sessions == 0) return 0;
  auto made = std::make_shared<fetch_session>(draw_id(), by_id(version));
  for (std::size_t t = 0; t < request.topics.size(); ++t) {
    const fetch_topic_key key = key_of(request.topics[t], version);
    for (std::size_t p = 0; p < request.topics[t].partitions.size(); ++p) {
      const auto& asked = request.topics[t].partitions[p];
      note_answer(made->put(key, asked.partition, wish_of(asked)), response.responses[t].partitions[p]);
    }
  }
  if (made->size() == 0) return 0;
  if (!make_room(made->size(), cost_of(*made), 1)) {
    ++stats_.refused;
    return 0;
  }
  const std::int32_t id = made->id();
  const io::time_point now = clock_.now();
  const auto [place, is_new] = entries_.emplace(id, entry{std::move(made), now, now});
  BRAID_CHECK(is_new);
  count(place->second);
  return id;
}

// Not to be guessed by others, positive, of this shard.
std::int32_t fetch_sessions::draw_id() {
  constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();
  while (true) {
    const std::uint64_t drawn = random_.next_u64() % (most / shards_) * shards_ + shard_;
    const auto id = static_cast<std::int32_t>(drawn);
    if (id != 0 && !entries_.contains(id)) return id;
  }
}

bool fetch_sessions::make_room(std::size_t partitions, std::size_t bytes, std::size_t more_sessions) {
  if (bytes > limits_.max_bytes) return false;
  while (stats_.bytes + bytes > limits_.max_bytes || entries_.size() + more_sessions > limits_.max_sessions) {
    if (!evict_one(partitions)) return false;
  }
  return true;
}

bool fetch_sessions::evict_one(std::size_t for_partitions) {
  if (by_use_.empty()) return false;
  if (clock_.now() - by_use_.begin()->first > eviction_age) {
    remove(by_use_.begin()->second);
  } else if (!by_size_.empty() && by_size_.begin()->first < for_partitions) {
    remove(by_size_.begin()->second);
  } else {
    return false;
  }
  ++stats_.evicted;
  return true;
}

void fetch_sessions::count(entry& one) {
  const std::int32_t id = one.session->id();
  one.partitions = one.session->size();
  one.bytes = cost_of(*one.session);
  one.may_yield = one.used - one.made > eviction_age;
  stats_.partitions += one.partitions;
  stats_.bytes += one.bytes;
  by_use_.emplace(one.used, id);
  if (one.may_yield) by_size_.emplace(one.partitions, id);
}

void fetch_sessions::uncount(entry& one) {
  const std::int32_t id = one.session->id();
  stats_.partitions -= one.partitions;
  stats_.bytes -= one.bytes;
  by_use_.erase({one.used, id});
  if (one.may_yield) by_size_.erase({one.partitions, id});
}

void fetch_sessions::remove(std::int32_t id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  uncount(found->second);
  entries_.erase(found);
}

fetch_session_stats fetch_sessions::statistics() const {
  fetch_session_stats now = stats_;
  now.sessions = entries_.size();
  return now;
}

}  // namespace braidmq::server
