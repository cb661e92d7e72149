// Resolves versions and types of parsed messages in place, and reports everything that is wrong with them.
#pragma once

#include <vector>

#include "protocol/schemagen/ast.hpp"

namespace braidmq::schemagen {

// A C++ type that stands for a wire type: "broker_id" -> model::broker_id, an int32 on the wire.
struct strong_type {
  const char* name;
  const char* cpp;
  base_type base;
};
const strong_type* find_strong_type(const std::string& name);

// Empty: the messages are sound. Also checks the messages against one another (pairs of request and response).
std::vector<schema_error> check(std::vector<message_def>& messages);

}  // namespace braidmq::schemagen
