#include "server/atomic_refusals.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "server/produce_check.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;

constexpr std::array<std::string_view, refusal_reason_count> names = {
    "unknown_topic", "too_large", "invalid_record", "invalid_timestamp", "unsupported_compression", "sequence", "other",
};

bool may_be_sent_again(error_code code) {
  using enum error_code;
  return code == not_leader_or_follower || code == request_timed_out || code == not_enough_replicas ||
         code == not_enough_replicas_after_append || code == kafka_storage_error;
}

}  // namespace

std::string_view to_string(refusal_reason reason) {
  return names[static_cast<std::size_t>(reason)];
}

refusal_reason reason_of(error_code code) {
  switch (code) {
    case error_code::invalid_topic_exception:
      return refusal_reason::unknown_topic;
    case error_code::record_list_too_large:
      return refusal_reason::too_large;
    case error_code::invalid_record:
      return refusal_reason::invalid_record;
    case error_code::invalid_timestamp:
      return refusal_reason::invalid_timestamp;
    case error_code::unsupported_compression_type:
      return refusal_reason::unsupported_compression;
    case error_code::operation_not_attempted:
      return refusal_reason::sequence;
    default:
      return refusal_reason::other;
  }
}

void atomic_refusals::add(refusal_reason reason, std::string_view who, std::string_view why, io::time_point now) {
  ++counts_[static_cast<std::size_t>(reason)];
  if (!told_) return;
  const io::duration::rep at = now.time_since_epoch().count();
  io::duration::rep from = tell_from_;
  if (at < from || !tell_from_.compare_exchange_strong(from, at + told_every.count())) {
    ++untold_;
    return;
  }
  constexpr std::size_t longest_who = 100;
  constexpr std::size_t longest_why = 600;
  const std::uint64_t untold = untold_.exchange(0);
  const std::string more = untold == 0 ? std::string() : fmt::format("; {} more since the line before", untold);
  told_(fmt::format("atomic write of {} refused ({}): {}{}", who.substr(0, longest_who), to_string(reason),
                    why.substr(0, longest_why), more));
}

void note_refusal(const request_context& context, const checked_produce& checked) {
  const auto answer_at = [&checked](const slice_place& place) -> const auto& {
    return checked.response.responses[place.topic].partition_responses[place.partition];
  };
  const auto& places = checked.atomic_places;
  if (places.empty()) return;
  const error_code first = answer_at(places.front()).error_code;
  if (first == error_code::none || may_be_sent_again(first)) return;
  // The culprit says what it was, the innocent say of whom.
  const auto is_innocent = [&](const slice_place& place) {
    return answer_at(place).error_code == error_code::operation_not_attempted;
  };
  const auto innocent = std::ranges::find_if(places, is_innocent);
  const auto culprit = std::ranges::find_if_not(places, is_innocent);
  const auto& reason = answer_at(culprit != places.end() ? *culprit : places.front());
  const auto& words = answer_at(innocent != places.end() ? *innocent : places.front());
  const std::string who = fmt::format("client '{}' at {}", context.client_id.substr(0, 60), context.connection->remote);
  context.broker.refused_atomic_writes().add(reason_of(reason.error_code), who, words.error_message.value_or(""),
                                             context.broker.environment().clock.now());
}

}  // namespace braidmq::server
