// Atomic writes that were refused for good, counted by reason, and told of now and then: clients show of a refusal what
// they like, some of them the first slice's error only.
//
// Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "io/clock.hpp"
#include "protocol/errors.hpp"

namespace braidmq::server {

struct checked_produce;
struct request_context;

enum class refusal_reason : std::uint8_t {
  unknown_topic,  // or partition
  too_large,      // a batch, or all of it
  invalid_record,
  invalid_timestamp,
  unsupported_compression,
  sequence,  // a gap, or an older epoch
  other,
};
inline constexpr std::size_t refusal_reason_count = 7;
std::string_view to_string(refusal_reason reason);  // "unknown_topic"

// Of the code of a culprit; `operation_not_attempted`, when there is no other one: a sequence.
refusal_reason reason_of(protocol::error_code code);

class atomic_refusals {
 public:
  static constexpr io::duration told_every = std::chrono::seconds(10);

  // `told` hears of one refusal in so long, and how many went untold before it. Null: nobody does.
  explicit atomic_refusals(std::function<void(const std::string&)> told) : told_(std::move(told)) {}

  // `who` and `why` come from the client, and are cut.
  void add(refusal_reason reason, std::string_view who, std::string_view why, io::time_point now);

  std::uint64_t count(refusal_reason reason) const { return counts_[static_cast<std::size_t>(reason)]; }

 private:
  std::function<void(const std::string&)> told_;
  std::array<std::atomic<std::uint64_t>, refusal_reason_count> counts_{};
  std::atomic<std::uint64_t> untold_{0};
  std::atomic<io::duration::rep> tell_from_{0};  // since the clock's beginning
};

// Looks at the answer of a request, and counts it when its atomic part was refused for good. One that failed for a
// reason of the broker's (6, 7, 19, 20, 56) may be sent again, and is none.
void note_refusal(const request_context& context, const checked_produce& checked);

}  // namespace braidmq::server
