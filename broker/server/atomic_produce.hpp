// The atomic write: what its slices are answered when it is refused, and what it waits for before it is judged.
//
// Clients send again what looks retriable, each slice for itself, so no slice of a refused write may look so: the
// culprit answers one of 17, 18, 29, 32, 42, 44, 76, 87, all others 55 (OPERATION_NOT_ATTEMPTED), which is final to
// Java, librdkafka and franz-go. A gap in sequences or a stale epoch answers 55 on every slice, the reason in words.
// 6, 7, 19, 20 and 56 are said of all slices at once only, and then they are true of all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "braid/replica.hpp"
#include "protocol/errors.hpp"
#include "protocol/generated/produce.hpp"

namespace braidmq::server {

// How long an atomic write waits for topics that are not known yet.
inline constexpr io::duration atomic_patience = std::chrono::seconds(1);

// What a slice that alone would be answered with `code` is answered when it makes the braid refuse an atomic write.
protocol::error_code culprit_code(protocol::error_code code);

// The same for a failure of the whole request.
protocol::error_code whole_code(protocol::error_code code);

// Turns the answers of an atomic write's slices, each as it would be alone, into those of a refusal, when there is one
// with an error. True when that is so. `name_of` names the first culprit by its place, for people; the reason stands on
// every slice, as far as all of the words take a megabyte.
bool refuse_together(const std::vector<protocol::produce_response::partition_produce_response*>& slices,
                     const std::function<std::string(std::size_t)>& name_of);

// A topic of an atomic write as the metadata image has it.
struct expected_topic {
  model::topic_id id;
  std::uint64_t changed_index = 0;
};

struct expected_topics {
  std::vector<expected_topic> topics;
  const io::clock& clock;
  io::time_point until;
};

using topics_by_index = std::map<model::topic_id, std::uint64_t>;

// Those of `expected` of which a target is not there, each once. `slices` is a range of braid::append_slice. A set may
// have very many slices and topics, and this is the braid's thread: each slice is looked at once, and asked for once.
template <class Slices, class IsThere>
topics_by_index missing_topics(const Slices& slices, const IsThere& is_there,
                               const std::vector<expected_topic>& expected) {
  std::set<model::topic_id> lacking;
  for (const braid::append_slice& slice : slices) {
    if (!is_there(slice.target)) lacking.insert(slice.target.topic);
  }
  topics_by_index missing;
  for (const expected_topic& one : expected) {
    if (lacking.contains(one.id)) missing.emplace(one.id, one.changed_index);
  }
  return missing;
}

// On the braid's executor: produces once the braid has the targets of the unit's atomic part, or the wait is over
// (apply decides then): the image hears of a topic before the braid has it.
void produce_when_there(braid::replica& braid, braid::produce_request request, expected_topics expected,
                        unique_function<void()> accepted, unique_function<void(result<braid::unit_outcome>)> done);

}  // namespace braidmq::server
