// A reader that keeps an incremental fetch session (KIP-227): it names only what it wants otherwise than before, and
// takes every partition of which nothing is said for what it was told last. To the checkers it looks like a reader that
// hears of all partitions each time, so the session must show what whole fetches would.
#include <algorithm>
#include <map>

#include "protocol/generated/fetch.hpp"
#include "workload/client.hpp"
#include "workload/fetch_request.hpp"

namespace braidmq::sim {
namespace {

using protocol::error_code;
using protocol::fetch_request;
using protocol::fetch_response;

struct followed_partition {
  std::string topic;
  std::int64_t from = 0;
  std::int32_t max_bytes = 1 << 20;
  std::int64_t told_end = -1;  // -1: nothing was said yet, or an error last
  std::int64_t told_start = -1;
  bool to_be_named = true;
  std::size_t answers_without = 0;  // though there was something to read
};

class session_fetcher final : public client {
 public:
  session_fetcher(workload_context& context, rng chance) : client(context, "session-fetcher", chance) {}

 private:
  void on_turn() override {
    if (in_flight() > 0 || context().topics.topics.empty() || !take_operation()) return;
    if (epoch_ == 0) choose_partitions();
    change_partitions();
    if (followed_.empty()) return;
    send_request();
  }

  // What the broker knows of the session is not known: begin anew.
  void on_disconnected() override { epoch_ = 0; }

  void choose_partitions() {
    followed_.clear();
    forgotten_.clear();
    by_id_ = chance().chance(0.7);
    for (const known_topic& topic : context().topics.topics) {
      for (std::int32_t p = 0; p < topic.partitions; ++p) {
        if (chance().chance(0.7)) follow(topic, p);
      }
    }
  }

  void follow(const known_topic& topic, std::int32_t p) {
    if (topic.churns() && !by_id_) return;
    const topic_partition_id target{topic.id, model::partition_index(p)};
    const bool again = forgotten_.contains(target);
    if (again || followed_.contains(target)) return;
    followed_partition& one = followed_[target];
    one.topic = topic.name;
    one.from = chance().chance(0.5) ? 0 : chance().between(0, log().known_end(target));
    if (chance().chance(0.2)) one.max_bytes = static_cast<std::int32_t>(chance().between(0, 300));
  }

  void change_partitions() {
    if (chance().chance(0.1)) {
      const known_topic& topic = *any_topic();
      follow(topic, static_cast<std::int32_t>(chance().below(static_cast<std::uint64_t>(topic.partitions))));
    }
    if (followed_.size() > 1 && chance().chance(0.05)) {
      const auto one = std::next(followed_.begin(), static_cast<std::ptrdiff_t>(chance().below(followed_.size())));
      forgotten_[one->first] = one->second.topic;
      followed_.erase(one);
    }
    for (auto& [target, one] : followed_) {
      if (!chance().chance(0.03)) continue;
      one.from = chance().between(0, std::max<std::int64_t>(one.told_end, 0));
      one.to_be_named = true;
      one.answers_without = 0;
    }
  }

  void send_request() {
    const std::int16_t version = by_id_ ? any_version(first_fetch_version_with_ids, 18) : any_version(7, 12);
    fetch_request request;
    request.session_id = session_;
    request.session_epoch = epoch_;
    request.min_bytes = static_cast<std::int32_t>(chance().chance(0.5) ? 1 : chance().between(0, 5'000));
    request.max_bytes = static_cast<std::int32_t>(chance().chance(0.4) ? chance().between(0, 5'000) : 50 << 20);
    request.max_wait_ms = static_cast<std::int32_t>(chance().chance(0.3) ? chance().between(0, 3'000) : 5);
    fetch_record asked;
    asked.connection = connection_id();
    asked.asked = log().next_moment();
    asked.asked_of_leader = log().leads(connection_id());
    for (auto& [target, one] : followed_) {
      fetched_partition& partition = asked.partitions.emplace_back();
      partition.target = target;
      partition.from = one.from;
      partition.floor = log().known_end(target);
      partition.server_floor = log().known_end_at(connection_id(), target);
      partition.start_floor = log().known_start_at(connection_id(), target);
      if (epoch_ > 0 && !std::exchange(one.to_be_named, false)) continue;
      one.to_be_named = false;
      auto& wanted = topic_of(request.topics, target, one.topic, version).partitions.emplace_back();
      wanted.partition = target.partition;
      wanted.fetch_offset = model::offset(one.from);
      wanted.partition_max_bytes = one.max_bytes;
    }
    if (epoch_ > 0) {
      for (const auto& [target, name] : forgotten_) {
        topic_of(request.forgotten_topics_data, target, name, version).partitions.push_back(target.partition);
      }
    }
    forgotten_.clear();
    const bool was_full = epoch_ == 0;
    send(request, version, [this, version, was_full, asked = std::move(asked)](const result<bytes>& body) mutable {
      if (body) take(*body, version, was_full, std::move(asked));
    });
  }

  template <class Topic>
  static Topic& topic_of(std::vector<Topic>& list, const topic_partition_id& target, const std::string& name,
                         std::int16_t version) {
    Topic made;
    if (version >= first_fetch_version_with_ids)
      made.topic_id = target.topic;
    else
      made.topic = name;
    if (list.empty() || list.back().topic != made.topic || list.back().topic_id != made.topic_id) list.push_back(made);
    return list.back();
  }

  void take(const bytes& body, std::int16_t version, bool was_full, fetch_record asked) {
    auto response = fetch_response::decode(body, version);
    if (!response) return violation("fetch answer: " + response.error().to_string());
    if (response->error_code != error_code::none) {
      // Another session took its place.
      if (was_full || response->error_code != error_code::fetch_session_id_not_found) {
        violation(fmt::format("fetch in a session refused with code {}", static_cast<int>(response->error_code)));
      }
      epoch_ = 0;
      return;
    }
    std::map<topic_partition_id, fetch_response::partition_data> said;
    for (auto& topic : response->responses) {
      for (auto& one : topic.partitions) {
        const model::topic_id id = topic.topic_id.is_zero() ? id_of(topic.topic) : topic.topic_id;
        if (!said.emplace(topic_partition_id{id, one.partition_index}, std::move(one)).second) {
          return violation("a partition is answered twice");
        }
      }
    }
    for (fetched_partition& one : asked.partitions) {
      const auto answer = said.find(one.target);
      if (!take_partition(one, answer == said.end() ? nullptr : &answer->second, was_full)) return;
      if (answer != said.end()) said.erase(answer);
    }
    if (!said.empty()) return violation("an answer about a partition that is not in the session");
    log().add(std::move(asked));
    session_ = response->session_id;
    epoch_ = session_ == 0 ? 0 : epoch_ + 1;
  }

  bool take_partition(fetched_partition& into, const fetch_response::partition_data* said, bool was_full) {
    followed_partition& known = followed_[into.target];
    if (said != nullptr) {
      into.code = said->error_code;
      known.told_end = into.code == error_code::none ? said->high_watermark.value() : -1;
      known.told_start = said->log_start_offset.value();
      if (said->records) {
        auto batches = log().read_batches(*said->records);
        if (!batches) return false;
        into.batches = std::move(*batches);
      }
    } else if (was_full || known.told_end == -1) {
      violation("nothing is said of a partition that is new or had an error");
      return false;
    }
    if (into.code == error_code::offset_out_of_range && log().known_start(into.target) > known.from) {
      known.from = log().known_start(into.target);
      known.to_be_named = true;
    }
    into.visible_end = known.told_end;
    into.log_start = known.told_start;
    if (!into.batches.empty()) {
      known.from = into.batches.back()->end();
      known.to_be_named = true;
    }
    // Each answer moves a partition with records at least one place ahead, until it is the first that has some.
    const bool starved = into.code == error_code::none && into.batches.empty() && into.from < into.visible_end;
    known.answers_without = starved ? known.answers_without + 1 : 0;
    if (epoch_ > 0 && known.answers_without > followed_.size() + 1) {
      violation(fmt::format("{} gets no records in {} answers", to_string(into.target), known.answers_without));
    }
    return true;
  }

  model::topic_id id_of(const std::string& name) const {
    for (const auto& [target, one] : followed_) {
      if (one.topic == name) return target.topic;
    }
    return {};
  }

  void violation(const std::string& what) { log().violation("session", what); }

  std::int32_t session_ = 0;
  std::int32_t epoch_ = 0;
  bool by_id_ = true;
  std::map<topic_partition_id, followed_partition> followed_;
  std::map<topic_partition_id, std::string> forgotten_;  // to be told
};

}  // namespace

std::unique_ptr<client> make_session_fetcher(workload_context& context, rng chance) {
  return std::make_unique<session_fetcher>(context, chance);
}

}  // namespace braidmq::sim
