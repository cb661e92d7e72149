// Produce, versions 3 to 13 (advertised from 0). Each slice is checked here, on the connection's shard; what passes
// goes to the braid as one unit. Sequences and offsets are decided at apply, and the answer waits for that: durable,
// applied, readable. acks=1 is treated as all; acks=0 gets no answer. Not there yet: transactions, the atomic write.
#include <algorithm>
#include <unordered_map>

#include "model/record_batch.hpp"
#include "server/error_mapping.hpp"
#include "server/handlers/handlers.hpp"
#include "server/topic_settings.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::error_code;
using partition_response = protocol::produce_response::partition_produce_response;

constexpr std::int16_t first_version_with_zstd = 7;
constexpr std::int16_t first_version_with_topic_ids = 13;

// What all batches of a request may decode to. The fixed part is what a single batch may; real records do not shrink to
// a fortieth.
constexpr std::size_t least_decoded_bytes = std::size_t{64} << 20U;
constexpr std::size_t decoded_times = 40;
constexpr std::size_t yield_bytes = std::size_t{4} << 20U;

// Where the outcome of a slice goes in the response.
struct slice_place {
  std::size_t topic;
  std::size_t partition;
  bool stamped;  // LogAppendTime: the response names the time
};

struct checked_request {
  protocol::produce_response response;
  braid::produce_unit unit;
  std::vector<slice_place> places;  // of the unit's slices
};

void refuse(partition_response& answer, error_code code, std::string message) {
  answer.error_code = code;
  answer.base_offset = model::offset(-1);
  answer.error_message = std::move(message);
}

// The batch as it goes to the log: the client's own bytes, but for what the broker has to stamp.
bytes stamped(const bytes& batch, const model::validated_batch& checked, const topic_settings& settings,
              std::int64_t now_ms) {
  const bool append_time = settings.timestamps == model::timestamp_type::log_append_time;
  if (!append_time && !checked.max_timestamp_is_wrong) return batch;
  std::vector<std::byte> copy(batch.view().begin(), batch.view().end());
  if (append_time)
    model::restamp_log_append_time(copy, now_ms);
  else
    model::restamp_max_timestamp(copy, checked.max_timestamp_ms);
  return bytes::take(std::move(copy));
}

std::size_t bytes_of(const protocol::produce_request& request) {
  std::size_t sum = 0;
  for (const auto& topic : request.topic_data) {
    for (const auto& one : topic.partition_data) sum += one.records ? one.records->size() : 0;
  }
  return sum;
}

class checker {
 public:
  checker(request_ptr context, const protocol::produce_request& request)
      : context_(std::move(context)),
        request_(request),
        image_(context_->broker.image()),
        now_ms_(context_->broker.environment().clock.wall_ms()),
        decoded_left_(least_decoded_bytes + decoded_times * bytes_of(request)) {}

  // A request may hold very many batches that decode to very much: the loop is given to others in between.
  runtime::task<checked_request> run() {
    for (const auto& topic : request_.topic_data) {
      auto& answers = checked_.response.responses.emplace_back();
      answers.name = topic.name;
      answers.topic_id = topic.topic_id;
      const bool by_id = context_->version >= first_version_with_topic_ids;
      const metadata::topic_image* found = by_id ? image_->find(topic.topic_id) : image_->find(topic.name);
      for (const auto& partition : topic.partition_data) {
        answers.partition_responses.emplace_back().index = partition.index;
        if (found == nullptr) {
          refuse(answers.partition_responses.back(),
                 by_id ? error_code::unknown_topic_id : error_code::unknown_topic_or_partition, "no such topic");
        } else {
          check(*found, partition);
        }
        if (decoded_since_yield_ >= yield_bytes) {
          decoded_since_yield_ = 0;
          co_await give_way(context_);
        }
      }
    }
    co_return std::move(checked_);
  }

 private:
  void check(const metadata::topic_image& topic, const protocol::produce_request::partition_produce_data& partition) {
    partition_response& answer = checked_.response.responses.back().partition_responses.back();
    if (partition.index.value() < 0 || partition.index.value() >= topic.partitions) {
      return refuse(answer, error_code::unknown_topic_or_partition,
                    fmt::format("topic '{}' has {} partitions", topic.name, topic.partitions));
    }
    if (!partition.records) return refuse(answer, error_code::invalid_record, "no record batch");
    if (decoded_left_ == 0) {
      return refuse(answer, error_code::message_too_large,
                    "the batches of this request decode to too much in all: send them in several");
    }
    const topic_settings settings = settings_of(topic, context_->broker.options());
    model::validation_limits limits = settings.validation(now_ms_, context_->version >= first_version_with_zstd);
    limits.max_decoded_bytes = std::min(limits.max_decoded_bytes, decoded_left_);
    const auto batch = model::validate_produce_records(*partition.records, limits);
    // One that is refused may have been decoded up to the limit.
    const std::size_t decoded = std::min(batch ? batch->decoded_bytes : limits.max_decoded_bytes, decoded_left_);
    decoded_left_ -= decoded;
    decoded_since_yield_ += decoded;
    if (!batch) return refuse(answer, wire_error(batch.error().code), batch.error().to_string());
    if (batch->header.is_transactional()) {
      return refuse(answer, error_code::invalid_txn_state, "transactions are not available in this version of BraidMQ");
    }
    checked_.unit.slices.push_back(
        {{topic.id, partition.index}, stamped(*partition.records, *batch, settings, now_ms_)});
    checked_.places.push_back({checked_.response.responses.size() - 1,
                               checked_.response.responses.back().partition_responses.size() - 1,
                               settings.timestamps == model::timestamp_type::log_append_time});
  }

  request_ptr context_;
  const protocol::produce_request& request_;
  metadata::image_ptr image_;
  std::int64_t now_ms_;
  std::size_t decoded_left_;
  std::size_t decoded_since_yield_ = 0;
  checked_request checked_;
};

void refuse_all(protocol::produce_response& response, const protocol::produce_request& request, error_code code,
                const std::string& message) {
  for (const auto& topic : request.topic_data) {
    auto& answers = response.responses.emplace_back();
    answers.name = topic.name;
    answers.topic_id = topic.topic_id;
    for (const auto& partition : topic.partition_data) {
      partition_response& answer = answers.partition_responses.emplace_back();
      answer.index = partition.index;
      refuse(answer, code, message);
    }
  }
}

void fill(checked_request& checked, const result<braid::unit_outcome>& outcome, std::int16_t version,
          const metadata::image& now) {
  const bool by_id = version >= first_version_with_topic_ids;
  for (std::size_t i = 0; i < checked.places.size(); ++i) {
    const slice_place& place = checked.places[i];
    partition_response& answer = checked.response.responses[place.topic].partition_responses[place.partition];
    if (!outcome) {
      refuse(answer, wire_error(outcome.error().code), outcome.error().to_string());
      continue;
    }
    const braid::slice_outcome& slice = outcome->slices[i];
    if (slice.error) {
      const model::topic_id& topic = checked.response.responses[place.topic].topic_id;
      refuse(answer, by_id ? wire_error_by_id(slice.error, now.find(topic) != nullptr) : wire_error(slice.error),
             slice.error.message());
      continue;
    }
    answer.base_offset = slice.base;
    answer.log_start_offset = slice.log_start;
    if (place.stamped) answer.log_append_time_ms = slice.append_time_ms;
  }
}

bool has_failure(const protocol::produce_response& response) {
  return std::ranges::any_of(response.responses, [](const auto& topic) {
    return std::ranges::any_of(topic.partition_responses,
                               [](const auto& one) { return one.error_code != error_code::none; });
  });
}

std::string refusal_of(const protocol::produce_request& request) {
  if (request.transactional_id) return "transactions are not available in this version of BraidMQ";
  if (request.atomic) return "the atomic write is not available in this version of BraidMQ";
  return {};
}

}  // namespace

answer_of<protocol::produce_response> produce(request_ptr context, protocol::produce_request request) {
  protocol::produce_response refused;
  if (request.acks < -1 || request.acks > 1) {
    refuse_all(refused, request, error_code::invalid_required_acks, "acks is -1, 0 or 1");
    co_return refused;
  }
  if (const std::string why = refusal_of(request); !why.empty()) {
    if (request.acks == 0) co_return fail(std::make_error_code(std::errc::operation_not_supported), why);
    refuse_all(refused, request, request.atomic ? error_code::invalid_request : error_code::invalid_txn_state, why);
    co_return refused;
  }
  checker check(context, request);
  checked_request checked = co_await check.run();
  if (!checked.unit.slices.empty()) {
    braid::produce_request command;
    command.unit = std::move(checked.unit);
    command.timeout = bounded_timeout(request.timeout_ms);
    auto submit = [context, command = std::move(command)](
                      braid::replica& braid, unique_function<void(result<braid::unit_outcome>)> done) mutable {
      auto accepted = [context] { context->shard.executor.post([context] { context->accept(); }); };
      braid.produce(std::move(command), std::move(accepted), std::move(done));
    };
    // One that waits for room beyond its timeout is answered and keeps its place: until it has it, this connection may
    // not bring more.
    context->handed_over = true;
    const auto outcome = co_await on_braid<result<braid::unit_outcome>>(context, std::move(submit));
    fill(checked, outcome, context->version, *context->broker.image());
  }
  if (request.acks != 0) co_return std::move(checked.response);
  if (has_failure(checked.response)) {
    // The only way to tell a client that asked for no answer, as in Kafka.
    co_return fail(std::make_error_code(std::errc::operation_canceled), "a write with acks=0 failed");
  }
  co_return std::nullopt;
}

}  // namespace braidmq::server::handlers
