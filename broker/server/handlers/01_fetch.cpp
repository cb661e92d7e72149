// Fetch, versions 4 to 18. All partitions of a request are clamped to one visible index. No fetch sessions (KIP-227):
// the session id is always 0, so clients send whole requests. No transactions yet, so both isolation levels see the
// same.
#include <algorithm>
#include <utility>

#include "server/error_mapping.hpp"
#include "server/handlers/handlers.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::error_code;
using protocol::fetch_request;
using protocol::fetch_response;

constexpr std::int16_t first_version_with_topic_ids = 13;
constexpr std::int16_t first_version_with_replica_state = 15;
constexpr std::int32_t max_wait_limit_ms = 5 * 60 * 1000;

bool is_replica(const fetch_request& request, std::int16_t version) {
  const model::broker_id id =
      version >= first_version_with_replica_state ? request.replica_state.replica_id : request.replica_id;
  return id.value() >= 0;
}

struct slice_place {
  std::size_t topic;
  std::size_t partition;
};

struct planned_fetch {
  fetch_response response;
  braid::fetch_request request;
  std::vector<slice_place> places;  // of the request's slices
};

fetch_response::partition_data& add_partition(planned_fetch& plan, model::partition_index index) {
  auto& answer = plan.response.responses.back().partitions.emplace_back();
  answer.partition_index = index;
  answer.high_watermark = model::offset(-1);
  answer.records = bytes();
  return answer;
}

planned_fetch plan_fetch(const fetch_request& request, std::int16_t version, const metadata::image& image,
                         std::size_t fetch_max_bytes) {
  planned_fetch plan;
  const bool by_id = version >= first_version_with_topic_ids;
  bool has_refusal = false;
  for (const auto& topic : request.topics) {
    auto& answers = plan.response.responses.emplace_back();
    answers.topic = topic.topic;
    answers.topic_id = topic.topic_id;
    const metadata::topic_image* found = by_id ? image.find(topic.topic_id) : image.find(topic.topic);
    for (const auto& partition : topic.partitions) {
      auto& answer = add_partition(plan, partition.partition);
      const std::int32_t index = partition.partition.value();
      if (found == nullptr || index < 0 || index >= found->partitions) {
        answer.error_code =
            found == nullptr && by_id ? error_code::unknown_topic_id : error_code::unknown_topic_or_partition;
        has_refusal = true;
        continue;
      }
      braid::fetch_slice slice;
      slice.target = {found->id, partition.partition};
      slice.from = partition.fetch_offset;
      slice.max_bytes = static_cast<std::size_t>(std::max(partition.partition_max_bytes, 0));
      slice.current_epoch = partition.current_leader_epoch;
      slice.last_fetched_epoch = partition.last_fetched_epoch;
      plan.request.slices.push_back(slice);
      plan.places.push_back({plan.response.responses.size() - 1, answers.partitions.size() - 1});
    }
  }
  plan.request.max_bytes = std::min(fetch_max_bytes, static_cast<std::size_t>(std::max(request.max_bytes, 0)));
  // A refusal is news: the client should hear of it at once.
  if (!has_refusal) {
    plan.request.min_bytes = static_cast<std::size_t>(std::max(request.min_bytes, 0));
    plan.request.max_wait = std::chrono::milliseconds(std::clamp(request.max_wait_ms, 0, max_wait_limit_ms));
  }
  return plan;
}

bytes joined(const std::vector<bytes>& batches, std::size_t size_bytes) {
  if (batches.size() == 1) return batches.front();
  byte_buffer buffer(size_bytes);
  for (const bytes& batch : batches) buffer.append(batch);
  return buffer.freeze();
}

void fill(planned_fetch& plan, result<braid::fetch_answer>& answer, std::int16_t version, const metadata::image& now) {
  const bool by_id = version >= first_version_with_topic_ids;
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
  if (request.session_id != 0) {
    refused.error_code = error_code::fetch_session_id_not_found;
    co_return refused;
  }
  // Reads have no place in the order of writes, and may wait long: the next request may come, but of fetches one.
  net::connection_info& connection = *context->connection;
  const unanswered counted(connection.unanswered_fetches);
  if (connection.unanswered_fetches == 1) context->accept();
  const std::size_t fetch_max_bytes = context->broker.options().fetch_max_bytes;
  const std::size_t room = fetch_max_bytes - std::min(fetch_max_bytes, connection.unsent_bytes);
  planned_fetch plan = plan_fetch(request, context->version, *context->broker.image(), room);
  if (!plan.request.slices.empty()) {
    plan.request.memory = context->broker.environment().answers;
    plan.request.abandoned = {context->connection, &connection.ended};
    auto read = [wanted = std::move(plan.request)](braid::replica& braid,
                                                   unique_function<void(result<braid::fetch_answer>)> done) mutable {
      braid.fetch(std::move(wanted), std::move(done));
    };
    auto answer = co_await on_braid<result<braid::fetch_answer>>(context, std::move(read));
    fill(plan, answer, context->version, *context->broker.image());
  }
  co_return std::move(plan.response);
}

}  // namespace braidmq::server::handlers
