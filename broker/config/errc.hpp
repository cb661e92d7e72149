// Errors of the configuration. The message says where (file:line:column), which key, and what is allowed.
#pragma once

#include <system_error>

namespace braidmq::config {

enum class errc {
  not_readable = 1,  // the file is not there, or is not YAML
  unknown_key,
  duplicate_key,
  bad_value,
};

std::error_code make_error_code(errc code);

}  // namespace braidmq::config

template <>
struct std::is_error_code_enum<braidmq::config::errc> : std::true_type {};
