#include "protocol/schemagen/check.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace braidmq::schemagen {
namespace {

constexpr strong_type strong_types[] = {
    {"broker_id", "model::broker_id", base_type::int32},
    {"partition_index", "model::partition_index", base_type::int32},
    {"leader_epoch", "model::leader_epoch", base_type::int32},
    {"sequence", "model::sequence", base_type::int32},
    {"producer_epoch", "model::producer_epoch", base_type::int16},
    {"producer_id", "model::producer_id", base_type::int64},
    {"offset", "model::offset", base_type::int64},
    {"topic_id", "model::topic_id", base_type::uuid},
    {"error_code", "protocol::error_code", base_type::int16},
};

// Words that a C++ member cannot have as its name; those of them that a schema may plausibly use.
constexpr std::string_view reserved[] = {
    "and",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "float",
    "for",
    "friend",
    "if",
    "inline",
    "int",
    "long",
    "new",
    "not",
    "or",
    "operator",
    "private",
    "protected",
    "public",
    "register",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "try",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "xor",
    "concept",
    "requires",
    // Types that members have.
    "bytes",
    "uuid",
};

// Members that every generated message has.
constexpr std::string_view members[] = {"decode", "encode",      "to_json",     "api_key",
                                        "name",   "min_version", "max_version", "first_flexible_version"};

bool is_snake_case(std::string_view name) {
  return !name.empty() && name.front() >= 'a' && name.front() <= 'z' && name.find("__") == std::string_view::npos &&
         std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

struct integer_limits {
  long long low;
  long long high;
};

template <class Int>
constexpr integer_limits limits_of{static_cast<long long>(std::numeric_limits<Int>::min()),
                                   static_cast<long long>(std::numeric_limits<Int>::max())};

std::optional<integer_limits> limits(base_type base) {
  switch (base) {
    case base_type::int8:
      return limits_of<std::int8_t>;
    case base_type::int16:
      return limits_of<std::int16_t>;
    case base_type::uint16:
      return limits_of<std::uint16_t>;
    case base_type::int32:
      return limits_of<std::int32_t>;
    case base_type::uint32:
      return limits_of<std::uint32_t>;
    case base_type::int64:
      return limits_of<std::int64_t>;
    default:
      return std::nullopt;
  }
}

std::optional<long long> parse_integer(std::string_view text) {
  long long value = 0;
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class checker {
 public:
  explicit checker(std::vector<schema_error>& errors) : errors_(errors) {}

  void message(message_def& message) {
    message_ = &message;
    if (message.name.empty() || message.name.front() < 'A' || message.name.front() > 'Z') {
      refuse(message.at,
             fmt::format("message '{}' should be named like Kafka's: CamelCase, without Request or Response",
                         message.name));
    }
    message.versions = resolve(message.versions_written, {0, version_range::open_end}, "the message's versions");
    if (message.versions.last == version_range::open_end) refuse(message.at, "the message's versions need an end");
    if (message.flexible_written) {
      message.flexible = resolve(*message.flexible_written, {0, message.versions.last}, "the flexible versions");
      if (message.flexible.last != message.versions.last) {
        refuse(message.flexible_written->at, "flexible versions reach to the message's last version");
      }
    }
    if (message.unstable_from && !message.versions.contains(*message.unstable_from)) {
      refuse(message.unstable_at, "the unstable versions are not versions of the message");
    }
    message.body.versions = message.versions;
    names();
    for (struct_def& common : message.structs) {
      if (!common.is_common) continue;
      common.versions = common.versions_written
                            ? resolve(*common.versions_written, message.versions, "versions of the structure")
                            : message.versions;
      fields(common);
    }
    fields(message.body);
  }

 private:
  void refuse(position at, std::string text) { errors_.push_back({at, std::move(text)}); }

  version_range resolve(const written_range& written, version_range around, std::string_view what) {
    const version_range out{written.first.value_or(around.first), written.last.value_or(around.last)};
    if (out.empty()) {
      refuse(written.at, fmt::format("{}: {}..{} is empty", what, out.first, out.last));
    } else if (!around.contains(out)) {
      refuse(written.at,
             fmt::format("{}: {}..{} is not within {}..{}", what, out.first, out.last, around.first, around.last));
    }
    return out;
  }

  // A structure must not have the name of a member: in C++ the member would hide it.
  void names() {
    std::set<std::string> structs;
    for (const struct_def& s : message_->structs) {
      if (!is_snake_case(s.name)) refuse(s.at, fmt::format("'{}' is not snake_case", s.name));
      if (!structs.insert(s.name).second)
        refuse(s.at, fmt::format("structure '{}' is defined twice in this message", s.name));
      if (s.name == type_name(*message_))
        refuse(s.at, fmt::format("structure '{}' has the name of its message", s.name));
    }
    const auto check_fields = [&](const struct_def& s) {
      for (const field_def& f : s.fields) {
        if (structs.contains(f.name))
          refuse(f.at, fmt::format("field '{}' has the name of a structure; rename the structure", f.name));
      }
    };
    check_fields(message_->body);
    for (const struct_def& s : message_->structs) check_fields(s);
  }

  void fields(struct_def& owner) {
    std::set<std::string> seen;
    std::set<std::uint32_t> tags;
    if (owner.fields.empty() && &owner != &message_->body)
      refuse(owner.at, fmt::format("structure '{}' has no fields", owner.name));
    for (field_def& field : owner.fields) {
      if (!seen.insert(field.name).second) refuse(field.at, fmt::format("field '{}' is defined twice", field.name));
      if (field.tag && !tags.insert(*field.tag).second)
        refuse(field.at, fmt::format("tag {} is used twice", *field.tag));
      this->field(owner, field);
    }
  }

  void field(const struct_def& owner, field_def& field) {
    if (!is_snake_case(field.name)) refuse(field.at, fmt::format("'{}' is not snake_case", field.name));
    if (std::ranges::find(reserved, field.name) != std::end(reserved)) {
      refuse(field.at, fmt::format("'{}' cannot be the name of a C++ member here", field.name));
    }
    if (&owner == &message_->body && std::ranges::find(members, field.name) != std::end(members)) {
      refuse(field.at, fmt::format("'{}' is a member of every message", field.name));
    }
    field.versions = owner.versions;
    if (field.versions_written) {
      field.versions = resolve(*field.versions_written, owner.versions, fmt::format("versions of '{}'", field.name));
    }
    if (field.has_nullable) nullable(field);
    if (field.tag) tag(field);
    if (!field.as.empty()) strong(field);
    if (field.is_array && field.base == base_type::boolean) refuse(field.at, "arrays of bool are not supported");
    if (field.is_array && (field.base == base_type::records)) refuse(field.at, "arrays of records are not supported");
    if (field.classic && (field.base != base_type::string || field.is_array || field.nullable != field.versions)) {
      refuse(field.at, "'classic' is for nullable strings");
    }
    if (field.base == base_type::structure) structure(field);
    if (field.default_value) default_value(field);
  }

  void nullable(field_def& field) {
    field.nullable = field.versions;
    if (field.nullable_written) {
      field.nullable =
          resolve(*field.nullable_written, field.versions, fmt::format("nullable versions of '{}'", field.name));
    }
    if (!field.is_array && (limits(field.base) || field.base == base_type::boolean ||
                            field.base == base_type::float64 || field.base == base_type::uuid)) {
      refuse(field.at, fmt::format("{} cannot be null", base_type_name(field)));
    }
  }

  void tag(const field_def& field) {
    if (!message_->flexible.contains(field.versions)) {
      refuse(field.at, fmt::format("'{}' has a tag in versions that are not flexible", field.name));
    }
  }

  void strong(const field_def& field) {
    const strong_type* type = find_strong_type(field.as);
    if (type == nullptr) {
      refuse(field.as_at, fmt::format("there is no strong type '{}'", field.as));
    } else if (type->base != field.base) {
      refuse(field.as_at, fmt::format("'{}' does not stand for {}", field.as, base_type_name(field)));
    }
  }

  void structure(field_def& field) {
    const auto found = std::ranges::find(message_->structs, field.struct_name, &struct_def::name);
    if (found == message_->structs.end()) {
      refuse(field.at, fmt::format("there is no type '{}'", field.struct_name));
    } else if (field.struct_is_inline) {
      found->versions = field.versions;
      fields(*found);
    } else if (!found->is_common) {
      refuse(field.at, fmt::format("'{}' is no common structure", field.struct_name));
    } else if (found->at.line > field.at.line) {
      refuse(field.at, fmt::format("common structure '{}' must stand before its use", field.struct_name));
    } else if (!found->versions.contains(field.versions)) {
      refuse(field.at, fmt::format("'{}' exists in versions {}..{} only", field.struct_name, found->versions.first,
                                   found->versions.last));
    }
  }

  void default_value(const field_def& field) {
    const literal& value = *field.default_value;
    const auto wrong = [&] { refuse(value.at, fmt::format("'{}' is no default for '{}'", value.text, field.name)); };
    if (value.what == literal::kind::null) {
      if (!field.has_nullable) wrong();
      return;
    }
    if (field.is_array) return wrong();
    if (field.base == base_type::boolean) return value.what == literal::kind::boolean ? void() : wrong();
    if (field.base == base_type::string) return value.what == literal::kind::text ? void() : wrong();
    const auto range = limits(field.base);
    const auto number = value.what == literal::kind::number ? parse_integer(value.text) : std::nullopt;
    if (!range || !number || *number < range->low || *number > range->high) wrong();
  }

  std::vector<schema_error>& errors_;
  message_def* message_ = nullptr;
};

void check_pairs(const std::vector<message_def>& messages, std::vector<schema_error>& errors) {
  for (const message_def& message : messages) {
    if (message.kind != message_kind::request && message.kind != message_kind::response) continue;
    const auto other_kind = message.kind == message_kind::request ? message_kind::response : message_kind::request;
    const auto partner = std::ranges::find_if(messages, [&](const message_def& other) {
      return other.kind == other_kind && other.api_key == message.api_key && other.name == message.name;
    });
    if (partner == messages.end()) {
      errors.push_back({message.at, fmt::format("{} {} has no {} in this file", kind_name(message.kind), message.name,
                                                kind_name(other_kind))});
    } else if (partner->versions != message.versions) {
      errors.push_back({message.at, fmt::format("request and response of {} have different versions", message.name)});
    }
  }
}

}  // namespace

const strong_type* find_strong_type(const std::string& name) {
  const auto found = std::ranges::find_if(strong_types, [&](const strong_type& type) { return name == type.name; });
  return found == std::end(strong_types) ? nullptr : &*found;
}

std::vector<schema_error> check(std::vector<message_def>& messages) {
  std::vector<schema_error> errors;
  std::set<std::string> names;
  for (message_def& message : messages) {
    if (!names.insert(type_name(message)).second)
      errors.push_back({message.at, fmt::format("{} is defined twice", type_name(message))});
    checker(errors).message(message);
  }
  check_pairs(messages, errors);
  return errors;
}

}  // namespace braidmq::schemagen
