// Recursive descent over the grammar in ../README.md. Stops at the first error.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "protocol/schemagen/ast.hpp"

namespace braidmq::schemagen {

std::variant<std::vector<message_def>, schema_error> parse(std::string_view source);

}  // namespace braidmq::schemagen
