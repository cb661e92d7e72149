// Error codes of responses, as Apache Kafka 4.4 numbers and names them; the list is errors.def.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace braidmq::protocol {

enum class error_code : std::int16_t {
#define BRAID_ERROR(code, name, retriable, text) name = code,
#include "protocol/errors.def"
#undef BRAID_ERROR
};

struct error_info {
  error_code code;
  std::string_view name;  // snake_case, as in the enum
  bool retriable;         // a client may repeat the same request and hope
  std::string_view text;
};

// All known codes, by rising number.
std::span<const error_info> all_errors();
// Null for a number that Kafka 4.4 does not define.
const error_info* find_error(error_code code);

bool is_retriable(error_code code);            // false for unknown codes
std::string to_string(error_code code);        // Kafka's name: "NOT_LEADER_OR_FOLLOWER"; "ERROR_<n>" for unknown codes
std::string_view error_text(error_code code);  // a sentence for people

}  // namespace braidmq::protocol
