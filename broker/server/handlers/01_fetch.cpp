// Fetch, versions 4 to 18. All partitions of a request are clamped to one visible index. Fetch sessions (KIP-227) as
// fetch_sessions.hpp says. No transactions yet, so both isolation levels see the same.
#include <algorithm>
#include <utility>

#include "server/error_mapping.hpp"
#include "server/fetch_sessions.hpp"
#include "server/handlers/handlers.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::error_code;
using protocol::fetch_request;
using protocol::fetch_response;

constexpr std::int16_t first_version_with_rack = 11;
constexpr std::int16_t first_version_with_replica_state = 15;
constexpr std::int16_t first_fetch_with_leader = 16;
constexpr std::int32_t max_wait_limit_ms = 5 * 60 * 1000;

bool is_replica(const fetch_request& request, std::int16_t version) {
  const model::broker_id id =
      version >= first_version_with_replica_state ? request.replica_state.replica_id : request.replica_id;
  return id.value() >= 0;
}

struct fetched_place {
  std::size_t topic;
  std::size_t partition;
};

struct planned_fetch {
  fetch_response response;
  braid::fetch_request request;
  std::vector<fetched_place> places;  // of the request's slices
  std::size_t partitions = 0;         // with those that are refused
};

constexpr std::size_t planned_partition_bytes =
    sizeof(fetched_place) + sizeof(braid::fetch_slice) + sizeof(fetch_response::partition_data);

// Makes the plan of a request: a place in the response for each partition, and what to read for those that are there.
class planner {
 public:
  planner(std::int16_t version, const metadata::image& image)
      : by_id_(version >= first_fetch_version_with_topic_ids), image_(image) {}

  void begin_topic(const std::string& name, const model::topic_id& id) {
    auto& answers = plan_.response.responses.emplace_back();
    answers.topic = name;
    answers.topic_id = id;
    topic_ = by_id_ ? image_.find(id) : image_.find(name);
  }

  void add(model::partition_index index, const fetch_wish& wish) {
    auto& answers = plan_.response.responses.back();
    auto& answer = answers.partitions.emplace_back();
    ++plan_.partitions;
    answer.partition_index = index;
    answer.high_watermark = model::offset(-1);
    answer.records = bytes();
    if (topic_ == nullptr || index.value() < 0 || index.value() >= topic_->partitions) {
      answer.error_code =
          topic_ == nullptr && by_id_ ? error_code::unknown_topic_id : error_code::unknown_topic_or_partition;
      has_refusal_ = true;
      return;
    }
    braid::fetch_slice slice;
    slice.target = {topic_->id, index};
    slice.from = wish.from;
    slice.max_bytes = static_cast<std::size_t>(std::max(wish.max_bytes, 0));
    slice.current_epoch = wish.current_epoch;
    slice.last_fetched_epoch = wish.last_fetched_epoch;
    plan_.request.slices.push_back(slice);
    plan_.places.push_back({plan_.response.responses.size() - 1, answers.partitions.size() - 1});
  }

  planned_fetch finish(const fetch_request& request, std::size_t fetch_max_bytes) {
    plan_.request.max_bytes = std::min(fetch_max_bytes, static_cast<std::size_t>(std::max(request.max_bytes, 0)));
    // A refusal is news: the client should hear of it at once.
    if (!has_refusal_) {
      plan_.request.min_bytes = static_cast<std::size_t>(std::max(request.min_bytes, 0));
      plan_.request.max_wait = std::chrono::milliseconds(std::clamp(request.max_wait_ms, 0, max_wait_limit_ms));
    }
    return std::move(plan_);
  }

 private:
  bool by_id_;
  const metadata::image& image_;
  const metadata::topic_image* topic_ = nullptr;
  bool has_refusal_ = false;
  planned_fetch plan_;
};

planned_fetch plan_fetch(const fetch_request& request, const fetch_session* session, std::int16_t version,
                         const metadata::image& image, std::size_t fetch_max_bytes) {
  planner making(version, image);
  if (session == nullptr) {
    for (const auto& topic : request.topics) {
      making.begin_topic(topic.topic, topic.topic_id);
      for (const auto& partition : topic.partitions) making.add(partition.partition, wish_of(partition));
    }
  } else {
    const fetch_topic_key* before = nullptr;
    for (const fetch_session::partition& partition : session->partitions()) {
      if (partition.topic != before) making.begin_topic(partition.topic->name, partition.topic->id);
      before = partition.topic;
      making.add(partition.index, partition.wish);
    }
  }
  return making.finish(request, fetch_max_bytes);
}

bytes joined(const std::vector<bytes>& batches, std::size_t size_bytes) {
  if (batches.size() == 1) return batches.front();
  byte_buffer buffer(size_bytes);
  for (const bytes& batch : batches) buffer.append(batch);
  return buffer.freeze();
}

void fill(planned_fetch& plan, result<braid::fetch_answer>& answer, std::int16_t version, const metadata::image& now) {
  const bool by_id = version >= first_fetch_version_with_topic_ids;
  for (std::size_t i = 0; i < plan.places.size(); ++i) {
    auto& target = plan.response.responses[plan.places[i].topic].partitions[plan.places[i].partition];
    if (!answer) {
      target.error_code = wire_error(answer.error().code);
      continue;
    }
    braid::fetched_slice& slice = answer->slices[i];
    const model::topic_id& topic = plan.response.responses[plan.places[i].topic].topic_id;
    target.error_code = by_id ? wire_error_by_id(slice.error, now.find(topic) != nullptr) : wire_error(slice.error);
    target.high_watermark = slice.visible_end;
    target.last_stable_offset = slice.visible_end;
    target.log_start_offset = slice.log_start;
    if (slice.diverging) {
      target.diverging_epoch.epoch = slice.diverging->epoch;
      target.diverging_epoch.end_offset = slice.diverging->end;
    }
    target.records = joined(std::exchange(slice.batches, {}), slice.size_bytes);
  }
}

// Of partitions that another broker leads now.
void name_leaders(fetch_response& response, const cluster_view& view) {
  for (auto& topic : response.responses) {
    for (auto& answer : topic.partitions) {
      if (answer.error_code == error_code::not_leader_or_follower ||
          answer.error_code == error_code::fenced_leader_epoch)
        name_leader(view, response, answer);
    }
  }
}

// What can be read from a replica nearby is not sent from here.
void send_to_replica(fetch_response& response, model::broker_id replica) {
  for (auto& topic : response.responses) {
    for (auto& answer : topic.partitions) {
      if (answer.error_code != error_code::none || answer.diverging_epoch.epoch != model::no_epoch) continue;
      answer.preferred_read_replica = replica;
      answer.records = bytes();
    }
  }
}

// Counts a request of a connection while it is served.
class unanswered {
 public:
  explicit unanswered(std::size_t& count) : count_(count) { ++count_; }
  ~unanswered() { --count_; }
  unanswered(const unanswered&) = delete;
  unanswered& operator=(const unanswered&) = delete;

 private:
  std::size_t& count_;
};

}  // namespace

answer_of<protocol::fetch_response> fetch(request_ptr context, protocol::fetch_request request) {
  fetch_response refused;
  if (is_replica(request, context->version)) {
    refused.error_code = error_code::cluster_authorization_failed;  // brokers replicate on a port of their own
    co_return refused;
  }
  const opened_fetch opened = context->sessions.open(request, context->version);
  if (opened.error != error_code::none) {
    refused.error_code = opened.error;
    co_return refused;
  }
  // Reads have no place in the order of writes, and may wait long: the next request may come, but of fetches one.
  net::connection_info& connection = *context->connection;
  const unanswered counted(connection.unanswered_fetches);
  if (connection.unanswered_fetches == 1) context->accept();
  const std::size_t fetch_max_bytes = context->broker.options().fetch_max_bytes;
  const std::size_t room = fetch_max_bytes - std::min(fetch_max_bytes, connection.unsent_bytes);
  planned_fetch plan = plan_fetch(request, opened.session.get(), context->version, *context->broker.image(), room);
  // A request of a few bytes may ask for all partitions of a large session.
  context->memory.resize(context->memory.size_bytes() + plan.partitions * planned_partition_bytes);
  if (!plan.request.slices.empty()) {
    plan.request.memory = context->broker.environment().answers;
    plan.request.abandoned = {context->connection, &connection.ended};
    std::optional<model::broker_id> nearby;
    if (context->broker.options().rack_aware_reads && !request.rack_id.empty()) {
      nearby = context->broker.view(context->connection->listener).preferred_replica(request.rack_id);
    }
    // Who is sent elsewhere hears it at once.
    if (nearby) plan.request.max_wait = {};
    plan.request.from_follower_allowed = context->version >= first_version_with_rack;
    auto read = [wanted = std::move(plan.request)](braid::replica& braid,
                                                   unique_function<void(result<braid::fetch_answer>)> done) mutable {
      braid.fetch(std::move(wanted), std::move(done));
    };
    auto answer = co_await on_braid<result<braid::fetch_answer>>(context, std::move(read));
    const cluster_view view = context->broker.view(context->connection->listener);
    fill(plan, answer, context->version, *view.image);
    if (nearby) send_to_replica(plan.response, *nearby);
    if (context->version >= first_fetch_with_leader) name_leaders(plan.response, view);
  }
  context->sessions.finish(opened, request, context->version, plan.response);
  co_return std::move(plan.response);
}

}  // namespace braidmq::server::handlers
