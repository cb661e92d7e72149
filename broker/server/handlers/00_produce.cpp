// Produce, versions 3 to 13 (advertised from 0). Each slice is checked here, on the connection's shard; what passes
// goes to the braid as one unit. Sequences and offsets are decided at apply, and the answer waits for that: durable,
// applied, readable. acks=1 is treated as all; acks=0 gets no answer. Our own: tag 9001 makes the whole request atomic,
// and produce.atomic the slices of topics that have it (server/atomic_produce.hpp). Not there yet: transactions.
#include <algorithm>

#include "server/error_mapping.hpp"
#include "server/handlers/handlers.hpp"
#include "server/produce_check.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::error_code;
constexpr std::int16_t first_produce_with_leader = 10;

using partition_response = protocol::produce_response::partition_produce_response;

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

// The answer of a slice as it would be alone.
void fill_one(partition_response& answer, const braid::slice_outcome& slice, bool stamped, error_code code) {
  if (slice.error) return refuse(answer, code, slice.error.message());
  answer.base_offset = slice.base;
  answer.log_start_offset = slice.log_start;
  if (stamped) answer.log_append_time_ms = slice.append_time_ms;
}

void fill(checked_produce& checked, const result<braid::unit_outcome>& outcome, std::int16_t version,
          const metadata::image& now) {
  const bool by_id = version >= first_produce_with_topic_ids;
  for (std::size_t i = 0; i < checked.places.size(); ++i) {
    const slice_place& place = checked.places[i];
    auto& topic = checked.response.responses[place.topic];
    partition_response& answer = topic.partition_responses[place.partition];
    if (!outcome) {
      const error_code code = wire_error(outcome.error().code);
      const bool is_atomic = i < checked.unit.atomic_slices;
      refuse(answer, is_atomic ? whole_code(code) : code, outcome.error().to_string());
      continue;
    }
    const braid::slice_outcome& slice = outcome->slices[i];
    const error_code code =
        by_id ? wire_error_by_id(slice.error, now.find(topic.topic_id) != nullptr) : wire_error(slice.error);
    fill_one(answer, slice, place.stamped, code);
  }
  // When the atomic part was refused before, that has been said.
  if (outcome && checked.unit.atomic_slices > 0) checked.refuse_atomic_part(now);
}

// Of partitions that another broker leads now.
void name_leaders(protocol::produce_response& response, const request_context& context) {
  std::optional<cluster_view> view;
  for (auto& topic : response.responses) {
    for (partition_response& answer : topic.partition_responses) {
      if (answer.error_code != error_code::not_leader_or_follower) continue;
      if (!view) view = context.broker.view(context.connection->listener);
      name_leader(*view, response, answer);
    }
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
    refuse_all(refused, request, error_code::invalid_txn_state, why);
    co_return refused;
  }
  const io::clock& clock = context->broker.environment().clock;
  const io::time_point patient_until = clock.now() + atomic_patience;
  metadata::image_ptr image = context->broker.image();
  if (lacks_topics(*context, request, *image)) {
    image = co_await image_with_topics(context, &request, atomic_patience);
  }
  produce_check check(context, request, std::move(image));
  while (!check.step()) co_await give_way(context);
  checked_produce checked = check.take();
  if (!checked.unit.slices.empty()) {
    braid::produce_request command;
    command.unit.atomic_slices = checked.unit.atomic_slices;
    command.unit.slices = std::move(checked.unit.slices);
    command.timeout = bounded_timeout(request.timeout_ms);
    expected_topics expected{std::move(checked.expected), clock, patient_until};
    auto submit = [context, command = std::move(command), expected = std::move(expected)](
                      braid::replica& braid, unique_function<void(result<braid::unit_outcome>)> done) mutable {
      auto accepted = [context] {
        if (is_of_braid(*context)) return context->accept();
        context->shard.executor.post([context] { context->accept(); });
      };
      produce_when_there(braid, std::move(command), std::move(expected), std::move(accepted), std::move(done));
    };
    // One that waits for room beyond its timeout is answered and keeps its place: until it has it, this connection may
    // not bring more.
    context->handed_over = true;
    const auto outcome = co_await on_braid<result<braid::unit_outcome>>(context, std::move(submit));
    fill(checked, outcome, context->version, *context->broker.image());
  }
  if (context->version >= first_produce_with_leader) name_leaders(checked.response, *context);
  note_refusal(*context, checked);
  if (request.acks != 0) co_return std::move(checked.response);
  if (has_failure(checked.response)) {
    // The only way to tell a client that asked for no answer, as in Kafka.
    co_return fail(std::make_error_code(std::errc::operation_canceled), "a write with acks=0 failed");
  }
  co_return std::nullopt;
}

}  // namespace braidmq::server::handlers
