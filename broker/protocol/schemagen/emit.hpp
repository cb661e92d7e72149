// Turns checked schemas into C++ and into a description for the conformance test.
#pragma once

#include <string>
#include <vector>

#include "protocol/schemagen/ast.hpp"

namespace braidmq::schemagen {

std::string emit_header(const schema_file& file);         // structures and declarations
std::string emit_source(const schema_file& file);         // decode, encode, to_json
std::string emit_random_header(const schema_file& file);  // makers of random values, for tests
std::string emit_random_source(const schema_file& file);

std::string emit_api_table(const std::vector<schema_file>& files);     // api_table.inc: one line per API
std::string emit_message_list(const std::vector<schema_file>& files);  // all_messages.hpp: for tests of all of them
std::string emit_description(const std::vector<schema_file>& files);   // schemas.json

}  // namespace braidmq::schemagen
