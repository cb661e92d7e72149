#include "protocol/schemagen/cpp_names.hpp"

#include <fmt/format.h>

#include "protocol/schemagen/check.hpp"

namespace braidmq::schemagen {
namespace {

std::size_t min_struct_bytes(const message_def& message, const struct_def& structure, int version);

std::size_t min_single_bytes(const message_def& message, const field_def& field, int version) {
  const bool flexible = message.flexible.contains(version);
  switch (field.base) {
    case base_type::boolean:
    case base_type::int8:
      return 1;
    case base_type::int16:
    case base_type::uint16:
      return 2;
    case base_type::int32:
    case base_type::uint32:
      return 4;
    case base_type::int64:
    case base_type::float64:
      return 8;
    case base_type::uuid:
      return 16;
    case base_type::string:
      return flexible && !field.classic ? 1 : 2;
    case base_type::bytes:
    case base_type::records:
      return flexible ? 1 : 4;
    case base_type::structure:
      return min_struct_bytes(message, *find_struct(message, field.struct_name), version);
  }
  return 0;
}

std::size_t min_field_bytes(const message_def& message, const field_def& field, int version) {
  if (!field.versions.contains(version) || field.tag) return 0;
  if (field.is_array) return message.flexible.contains(version) ? 1 : 4;
  if (field.base == base_type::structure && field.has_nullable && field.nullable.contains(version)) return 1;
  return min_single_bytes(message, field, version);
}

std::size_t min_struct_bytes(const message_def& message, const struct_def& structure, int version) {
  std::size_t total = message.flexible.contains(version) ? 1 : 0;  // the count of tagged fields
  for (const field_def& field : structure.fields) total += min_field_bytes(message, field, version);
  return total;
}

}  // namespace

std::string wire_integer(const field_def& field) {
  switch (field.base) {
    case base_type::int8:
      return "std::int8_t";
    case base_type::int16:
      return "std::int16_t";
    case base_type::uint16:
      return "std::uint16_t";
    case base_type::int32:
      return "std::int32_t";
    case base_type::uint32:
      return "std::uint32_t";
    case base_type::int64:
      return "std::int64_t";
    default:
      return "";
  }
}

std::string element_type(const field_def& field) {
  if (!field.as.empty()) return find_strong_type(field.as)->cpp;
  switch (field.base) {
    case base_type::boolean:
      return "bool";
    case base_type::float64:
      return "double";
    case base_type::uuid:
      return "uuid";
    case base_type::string:
      return "std::string";
    case base_type::bytes:
    case base_type::records:
      return "bytes";
    case base_type::structure:
      return field.struct_name;
    default:
      return wire_integer(field);
  }
}

std::string member_type(const field_def& field) {
  std::string type = element_type(field);
  if (field.is_array) type = fmt::format("std::vector<{}>", type);
  return field.has_nullable ? fmt::format("std::optional<{}>", type) : type;
}

// Kafka's rule: the default of what may be null is still empty, unless it says null; for records it is null.
bool nullable_by_default(const field_def& field) {
  if (!field.has_nullable) return false;
  if (field.default_value) return field.default_value->what == literal::kind::null;
  return field.base == base_type::records;
}

namespace {

std::string integer_literal(const field_def& field) {
  std::string text = field.default_value ? field.default_value->text : "0";
  if (field.base == base_type::int32 && text == "-2147483648") return "std::numeric_limits<std::int32_t>::min()";
  return field.as.empty() ? text : fmt::format("{}{{{}}}", find_strong_type(field.as)->cpp, text);
}

}  // namespace

std::string member_initializer(const field_def& field) {
  if (nullable_by_default(field)) return "";
  if (field.has_nullable) {
    const bool text = field.base == base_type::string && !field.is_array && field.default_value;
    std::string plain = field.is_array ? fmt::format("std::vector<{}>", element_type(field)) : element_type(field);
    return text ? fmt::format(" = \"{}\"", field.default_value->text) : fmt::format(" = {}{{}}", plain);
  }
  if (field.is_array) return "";
  if (field.base == base_type::boolean)
    return field.default_value && field.default_value->text == "true" ? " = true" : " = false";
  if (field.base == base_type::float64)
    return fmt::format(" = {}", field.default_value ? field.default_value->text : "0");
  if (!wire_integer(field).empty()) return " = " + integer_literal(field);
  if (field.base == base_type::string && field.default_value && !field.default_value->text.empty()) {
    return fmt::format(" = \"{}\"", field.default_value->text);
  }
  return "";
}

std::string is_default(const message_def& message, const field_def& field, const std::string& value) {
  if (nullable_by_default(field)) return fmt::format("!{}.has_value()", value);
  const std::string inner = field.has_nullable ? "(*" + value + ")" : value;
  std::string test;
  if (field.is_array || field.base == base_type::bytes || field.base == base_type::records) {
    test = inner + ".empty()";
  } else if (field.base == base_type::string) {
    const std::string text = field.default_value ? field.default_value->text : "";
    test = text.empty() ? inner + ".empty()" : fmt::format("{} == \"{}\"", inner, text);
  } else if (field.base == base_type::boolean) {
    test = field.default_value && field.default_value->text == "true" ? inner : "!" + inner;
  } else if (field.base == base_type::structure) {
    test = fmt::format("{} == {}::{}{{}}", inner, type_name(message), field.struct_name);
  } else if (field.base == base_type::uuid) {
    test = inner + ".is_zero()";
  } else if (field.base == base_type::float64) {
    test = fmt::format("{} == {}", inner, field.default_value ? field.default_value->text : "0");
  } else {
    test = fmt::format("{} == {}", inner, integer_literal(field));
  }
  return field.has_nullable ? fmt::format("({}.has_value() && {})", value, test) : test;
}

std::string version_condition(version_range inside, version_range around) {
  const version_range both = intersect(inside, around);
  if (both.empty()) return "false";
  const bool low = both.first > around.first;
  const bool high = both.last < around.last;
  if (low && high && both.first == both.last) return fmt::format("version == {}", both.first);
  if (low && high) return fmt::format("version >= {} && version <= {}", both.first, both.last);
  if (low) return fmt::format("version >= {}", both.first);
  if (high) return fmt::format("version <= {}", both.last);
  return "";
}

std::string min_element_bytes(const message_def& message, const field_def& array) {
  std::string expression;
  std::size_t previous = 0;
  // From the newest version down: "version >= 13 ? 24 : version >= 9 ? 10 : 5".
  for (int version = array.versions.last; version >= array.versions.first; --version) {
    const std::size_t size = min_single_bytes(message, array, version);
    if (version == array.versions.last) {
      previous = size;
    } else if (size != previous) {
      expression += fmt::format("version >= {} ? {} : ", version + 1, previous);
      previous = size;
    }
  }
  return expression + fmt::format("{}", previous);
}

}  // namespace braidmq::schemagen
