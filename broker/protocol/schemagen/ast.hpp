// What a schema file says, after parsing; check() resolves versions and types in place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace braidmq::schemagen {

struct position {
  int line = 1;
  int column = 1;
};

struct schema_error {
  position at;
  std::string text;
};

// Inclusive on both sides; empty when first > last.
struct version_range {
  static constexpr int open_end = 32767;

  int first = 0;
  int last = -1;

  bool empty() const { return first > last; }
  bool contains(int version) const { return first <= version && version <= last; }
  bool contains(version_range other) const { return other.empty() || (first <= other.first && other.last <= last); }
  friend bool operator==(version_range, version_range) = default;
};

inline version_range intersect(version_range a, version_range b) {
  const version_range both{a.first > b.first ? a.first : b.first, a.last < b.last ? a.last : b.last};
  return both.empty() ? version_range{} : both;
}

// A range as written; the open sides are filled in from the surroundings by check().
struct written_range {
  position at;
  std::optional<int> first;
  std::optional<int> last;
};

enum class base_type {
  boolean,
  int8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  float64,
  uuid,
  string,
  bytes,
  records,
  structure
};

struct literal {
  enum class kind { null, boolean, number, text };
  position at;
  kind what = kind::null;
  std::string text;  // the number or word as written; the content of a string
};

struct field_def {
  position at;
  std::string name;
  std::vector<std::string> doc;
  bool is_array = false;
  base_type base = base_type::structure;
  std::string struct_name;
  bool struct_is_inline = false;
  std::optional<written_range> versions_written;
  bool has_nullable = false;
  std::optional<written_range> nullable_written;
  std::optional<literal> default_value;
  std::optional<std::uint32_t> tag;
  std::string as;  // empty: the plain type
  position as_at;
  bool ignorable = false;  // set in a version that lacks it: dropped silently instead of refused
  bool extension = false;  // ours, not Kafka's
  bool classic = false;    // never compact

  version_range versions;  // resolved: versions in which the field is on the wire
  version_range nullable;  // resolved: versions in which it may be null
};

struct struct_def {
  position at;
  std::string name;
  std::vector<std::string> doc;
  std::vector<field_def> fields;
  bool is_common = false;
  std::optional<written_range> versions_written;
  version_range versions;  // resolved: versions in which the structure is on the wire
};

enum class message_kind { request, response, header, record };

struct message_def {
  position at;
  message_kind kind = message_kind::record;
  std::string name;  // "Produce"
  std::vector<std::string> doc;
  int api_key = -1;
  written_range versions_written;
  std::optional<written_range> flexible_written;  // none: "flexible none"
  std::optional<int> unstable_from;
  position unstable_at;
  struct_def body;
  std::vector<struct_def> structs;  // inner ones before those that use them

  version_range versions;
  version_range flexible;
};

struct schema_file {
  std::string stem;  // "produce"
  std::string path;
  std::vector<message_def> messages;
};

const struct_def* find_struct(const message_def& message, const std::string& name);
const char* kind_name(message_kind kind);
std::string base_type_name(const field_def& field);

// "ApiVersions" -> "api_versions"
std::string snake_case(const std::string& camel_case);
// The C++ name: "produce_request"
std::string type_name(const message_def& message);
// Kafka's name: "ProduceRequest"
std::string kafka_name(const message_def& message);

}  // namespace braidmq::schemagen
