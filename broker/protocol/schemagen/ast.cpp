#include "protocol/schemagen/ast.hpp"

#include <algorithm>
#include <cctype>

namespace braidmq::schemagen {

const struct_def* find_struct(const message_def& message, const std::string& name) {
  const auto found = std::ranges::find(message.structs, name, &struct_def::name);
  return found == message.structs.end() ? nullptr : &*found;
}

const char* kind_name(message_kind kind) {
  switch (kind) {
    case message_kind::request:
      return "request";
    case message_kind::response:
      return "response";
    case message_kind::header:
      return "header";
    case message_kind::record:
      return "record";
  }
  return "?";
}

std::string base_type_name(const field_def& field) {
  switch (field.base) {
    case base_type::boolean:
      return "bool";
    case base_type::int8:
      return "int8";
    case base_type::int16:
      return "int16";
    case base_type::uint16:
      return "uint16";
    case base_type::int32:
      return "int32";
    case base_type::uint32:
      return "uint32";
    case base_type::int64:
      return "int64";
    case base_type::float64:
      return "float64";
    case base_type::uuid:
      return "uuid";
    case base_type::string:
      return "string";
    case base_type::bytes:
      return "bytes";
    case base_type::records:
      return "records";
    case base_type::structure:
      return field.struct_name;
  }
  return "?";
}

std::string snake_case(const std::string& camel_case) {
  std::string snake;
  for (const char c : camel_case) {
    const bool upper = std::isupper(static_cast<unsigned char>(c)) != 0;
    if (upper && !snake.empty()) snake.push_back('_');
    snake.push_back(upper ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : c);
  }
  return snake;
}

std::string type_name(const message_def& message) {
  switch (message.kind) {
    case message_kind::request:
      return snake_case(message.name) + "_request";
    case message_kind::response:
      return snake_case(message.name) + "_response";
    default:
      return snake_case(message.name);
  }
}

std::string kafka_name(const message_def& message) {
  switch (message.kind) {
    case message_kind::request:
      return message.name + "Request";
    case message_kind::response:
      return message.name + "Response";
    default:
      return message.name;
  }
}

}  // namespace braidmq::schemagen
