// Why bytes could not be decoded, or a value not encoded. Not to be mixed up with protocol::error_code (errors.hpp),
// which is what travels in responses.
#pragma once

#include <system_error>

namespace braidmq::protocol {

enum class errc {
  truncated = 1,        // the input ends inside a value
  malformed,            // lengths, counts, tags or text that no correct peer writes
  unsupported_version,  // the message does not exist in this version
  unknown_api,          // no API has this key
  unsupported_field,  // encode: a field is set that this version cannot carry, and dropping it would change the meaning
  unexpected_null,    // encode: a field is null where this version has no null
  too_long,           // encode: a string or array does not fit its length field
  too_large,          // decode: beyond the decode_limit that the caller set
};

std::error_code make_error_code(errc code);

}  // namespace braidmq::protocol

template <>
struct std::is_error_code_enum<braidmq::protocol::errc> : std::true_type {};
