// Times as the Kubernetes API writes them, in UTC: Time has whole seconds, MicroTime always six digits (a Lease or an
// Event with fewer is refused by some versions, read as another instant by others).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace braidmq::k8s {

std::string format_time(std::int64_t unix_ms);        // 2026-11-29T20:55:08Z
std::string format_micro_time(std::int64_t unix_ms);  // 2026-11-29T20:55:08.123000Z

// RFC 3339, with or without a fraction; nothing when it is no such time. Milliseconds since 1970, rounded down.
std::optional<std::int64_t> parse_time(std::string_view text);

}  // namespace braidmq::k8s
