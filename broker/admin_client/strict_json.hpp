// Reads JSON from strangers: no exceptions, bounded depth, and a member that is given twice is an error, because two
// readers would take different ones. Source: RFC 8259 (4: names should be unique; 9: limits of size and depth).
#pragma once

#include <cstddef>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"

namespace braidmq::admin_client {

inline constexpr std::size_t max_json_depth = 16;

// errc::invalid_request, with what is wrong and where, for anything else than one JSON value. Text that is not UTF-8 is
// refused. The caller has bounded the size.
result<nlohmann::json> parse_json(std::string_view text, std::size_t max_depth = max_json_depth);

// One line; what is not UTF-8 is replaced.
std::string to_text(const nlohmann::json& value);

}  // namespace braidmq::admin_client
