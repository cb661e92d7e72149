// The same picture of a message for both sides: ours (schemas.json of the generator) and Kafka's (JSON in its jar).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace braidmq::conformance {

struct versions {
  static constexpr int open_end = 32767;
  int first = 0;
  int last = -1;

  bool contains(int version) const { return first <= version && version <= last; }
  bool empty() const { return first > last; }
};

struct field {
  std::string name;  // lower case without underscores: "topicid"
  std::string type;  // "int32", "struct", "[]string"
  versions on_wire;
  versions nullable;
  versions compact;  // flexible versions of this field; differs from the message's for the client id only
  std::optional<int> tag;
  std::string default_text;  // normalised: "" for false, 0, empty; "null"; else a decimal number or the text
  bool ignorable = false;
  bool extension = false;
  std::vector<field> fields;
};

struct schema {
  std::string name;  // "ProduceRequest"
  std::string kind;  // "request", "response", "header"
  int api_key = -1;
  versions valid;
  versions flexible;
  bool latest_unstable = false;
  std::vector<field> fields;
};

std::vector<schema> parse_ours(const std::string& json);
schema parse_kafka(const std::string& json);

struct comparison {
  int versions = 0;
  std::vector<std::string> differences;
};

// Compares in each version that ours has.
comparison compare(const schema& ours, const schema& kafka);

}  // namespace braidmq::conformance
