#include "server/atomic_produce.hpp"

#include <algorithm>
#include <memory>
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

// Waits for one topic after another; each is waited for once.
struct arrival {
  braid::replica& braid;
  braid::produce_request request;
  expected_topics expected;
  unique_function<void()> accepted;
  unique_function<void(result<braid::unit_outcome>)> done;

  bool has_all(const model::topic_id& topic) const {
    const auto& slices = request.unit.slices;
    return std::all_of(slices.begin(), slices.begin() + static_cast<std::ptrdiff_t>(request.unit.atomic_slices),
                       [&](const braid::append_slice& slice) {
                         return slice.target.topic != topic || braid.state().partitions().contains(slice.target);
                       });
  }
};

void go_on(const std::shared_ptr<arrival>& of) {
  auto& topics = of->expected.topics;
  while (!topics.empty()) {
    const expected_topic next = topics.back();
    topics.pop_back();
    const io::duration left = of->expected.until - of->expected.clock.now();
    if (left <= io::duration::zero() || of->has_all(next.id)) continue;
    of->braid.when_applied(next.id, next.changed_index, left, [of](const status&) { go_on(of); });
    return;
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
  go_on(std::make_shared<arrival>(
      arrival{braid, std::move(request), std::move(expected), std::move(accepted), std::move(done)}));
}

}  // namespace braidmq::server
