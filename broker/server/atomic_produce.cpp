#include "server/atomic_produce.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace braidmq::server {
namespace {

using protocol::error_code;

using partition_response = protocol::produce_response::partition_produce_response;

bool is_culprit(const partition_response* slice) {
  return slice->error_code != error_code::none && slice->error_code != error_code::operation_not_attempted;
}

bool is_sequence_refusal(error_code code) {
  return code == error_code::out_of_order_sequence_number || code == error_code::invalid_producer_epoch;
}

// What waits for one topic after another.
struct arrival {
  braid::replica& braid;
  braid::produce_request request;
  topics_by_index missing;
  const io::clock& clock;
  io::time_point until;
  unique_function<void()> accepted;
  unique_function<void(result<braid::unit_outcome>)> done;
  bool in_call = false;
  bool is_settled = false;
};

void go_on(const std::shared_ptr<arrival>& of) {
  while (!of->missing.empty()) {
    const io::duration left = of->until - of->clock.now();
    if (left <= io::duration::zero()) break;
    const auto next = of->missing.extract(of->missing.begin());
    // The answer may come inside the call: there may be very many topics, and each would be a level of the stack.
    of->is_settled = false;
    of->in_call = true;
    of->braid.when_applied(next.key(), next.mapped(), left, [of](const status&) {
      of->is_settled = true;
      if (!of->in_call) go_on(of);
    });
    of->in_call = false;
    if (!of->is_settled) return;
  }
  of->braid.produce(std::move(of->request), std::move(of->accepted), std::move(of->done));
}

}  // namespace

error_code culprit_code(error_code code) {
  using enum error_code;
  switch (code) {
    case unknown_topic_or_partition:
    case unknown_topic_id:
      return invalid_topic_exception;
    case message_too_large:
      return record_list_too_large;
    case corrupt_message:
      return invalid_record;
    case invalid_topic_exception:
    case record_list_too_large:
    case topic_authorization_failed:
    case invalid_timestamp:
    case policy_violation:
    case unsupported_compression_type:
    case invalid_record:
      return code;
    default:
      return invalid_request;
  }
}

error_code whole_code(error_code code) {
  return code == error_code::message_too_large ? error_code::record_list_too_large : code;
}

bool refuse_together(const std::vector<partition_response*>& slices,
                     const std::function<std::string(std::size_t)>& name_of) {
  const auto culprit = std::ranges::find_if(slices, &is_culprit);
  if (culprit == slices.end()) return false;
  const std::string why =
      fmt::format("nothing of this atomic write was written, because of {}: {}",
                  name_of(static_cast<std::size_t>(culprit - slices.begin())), (*culprit)->error_message.value_or(""));
  // A request of many slices that say little must not make an answer that says much.
  constexpr std::size_t most_words_bytes = std::size_t{1} << 20U;
  std::size_t left = most_words_bytes;
  for (partition_response* one : slices) {
    one->base_offset = model::offset(-1);
    if (is_culprit(one) && !is_sequence_refusal(one->error_code)) {
      one->error_code = culprit_code(one->error_code);
      continue;
    }
    one->error_code = error_code::operation_not_attempted;
    one->error_message = why.size() <= left ? why : std::string();
    left -= one->error_message->size();
  }
  return true;
}

void produce_when_there(braid::replica& braid, braid::produce_request request, expected_topics expected,
                        unique_function<void()> accepted, unique_function<void(result<braid::unit_outcome>)> done) {
  const auto is_there = [&braid](const model::topic_partition_id& target) {
    return braid.state().find(target) != nullptr;
  };
  const std::span slices(request.unit.slices);
  topics_by_index missing = missing_topics(slices.first(request.unit.atomic_slices), is_there, expected.topics);
  if (missing.empty()) return braid.produce(std::move(request), std::move(accepted), std::move(done));
  go_on(std::make_shared<arrival>(arrival{braid, std::move(request), std::move(missing), expected.clock, expected.until,
                                          std::move(accepted), std::move(done)}));
}

}  // namespace braidmq::server
