// Shared by the emitters: C++ spellings of types, defaults and conditions.
#pragma once

#include <string>

#include "protocol/schemagen/ast.hpp"

namespace braidmq::schemagen {

// Of one element: "model::broker_id", "std::string", "topic_data".
std::string element_type(const field_def& field);
// Of the member, with vector and optional.
std::string member_type(const field_def& field);
// The wire's integer type behind the member: "std::int32_t"; empty for what is no integer.
std::string wire_integer(const field_def& field);
// "{}" or " = -1": what follows the member's name.
std::string member_initializer(const field_def& field);
// An expression that is true when `value` has the field's default.
std::string is_default(const message_def& message, const field_def& field, const std::string& value);

// "version >= 3 && version <= 8" for those `inside` a context in which `around` already holds; "" when always.
std::string version_condition(version_range inside, version_range around);
// The fewest bytes that one element of the array takes: an expression over `version`.
std::string min_element_bytes(const message_def& message, const field_def& array);

bool nullable_by_default(const field_def& field);

}  // namespace braidmq::schemagen
