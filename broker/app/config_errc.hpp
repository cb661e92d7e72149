// Errors of the configuration. The message says where (file:line:column), which key, and what is allowed.
#pragma once

#include <system_error>

namespace braidmq::app {

enum class config_errc {
  not_readable = 1,  // the file is not there, or is not YAML
  unknown_key,
  duplicate_key,
  bad_value,
};

std::error_code make_error_code(config_errc code);

}  // namespace braidmq::app

template <>
struct std::is_error_code_enum<braidmq::app::config_errc> : std::true_type {};
