#include "conformance/schema_model.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace braidmq::conformance {
namespace {

using nlohmann::json;

std::string normalised_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c != '_') out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  return out;
}

// Numbers may be hexadecimal on both sides; what equals the type's own default becomes "".
std::string normalised_default(std::string text) {
  if (text == "false" || text.empty()) return "";
  long long value = 0;
  const bool hex = text.starts_with("0x");
  const char* const begin = text.data() + (hex ? 2 : 0);
  const char* const end = text.data() + text.size();
  if (std::from_chars(begin, end, value, hex ? 16 : 10).ptr == end) text = value == 0 ? "" : std::to_string(value);
  return text;
}

versions our_range(const json& range) {
  return range.is_null() ? versions{} : versions{range[0], range[1]};
}

std::vector<field> our_fields(const json& list, const schema& message) {
  std::vector<field> out;
  for (const json& item : list) {
    field f;
    f.name = normalised_name(item.at("name"));
    f.type = item.at("type");
    f.on_wire = our_range(item.at("versions"));
    f.nullable = our_range(item.at("nullable"));
    f.compact = item.at("classic") ? versions{} : message.flexible;
    if (!item.at("tag").is_null()) f.tag = item.at("tag").get<int>();
    if (item.at("null_default"))
      f.default_text = "null";
    else if (!item.at("default").is_null())
      f.default_text = normalised_default(item.at("default"));
    f.ignorable = item.at("ignorable");
    f.extension = item.at("extension");
    f.fields = our_fields(item.at("fields"), message);
    out.push_back(std::move(f));
  }
  return out;
}

// "0+", "3-13", "5", "none"
versions kafka_range(const std::string& text) {
  if (text == "none") return {};
  versions out;
  const char* const end = text.data() + text.size();
  const char* at = std::from_chars(text.data(), end, out.first).ptr;
  if (at == text.data()) throw std::runtime_error("cannot read the versions '" + text + "'");
  if (at == end) {
    out.last = out.first;
  } else if (*at == '+') {
    out.last = versions::open_end;
  } else {
    std::from_chars(at + 1, end, out.last);
  }
  return out;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

using common_structs = std::map<std::string, json>;

std::vector<field> kafka_fields(const json& list, const schema& message, const common_structs& common);

field kafka_field(const json& item, const schema& message, const common_structs& common) {
  field f;
  f.name = normalised_name(item.at("name"));
  std::string type = item.at("type");
  const bool array = type.starts_with("[]");
  const std::string element = array ? type.substr(2) : type;
  const bool structure = std::isupper(static_cast<unsigned char>(element.front())) != 0;
  f.type = structure ? (array ? "[]struct" : "struct") : type;
  f.on_wire = kafka_range(item.value("versions", "none"));
  f.nullable = kafka_range(item.value("nullableVersions", "none"));
  f.compact = item.contains("flexibleVersions") ? kafka_range(item.at("flexibleVersions")) : message.flexible;
  if (item.contains("tag")) f.tag = item.at("tag").get<int>();
  if (item.contains("tag") && item.at("taggedVersions") != item.at("versions")) {
    throw std::runtime_error("field " + f.name +
                             " is tagged in some of its versions only, which our language cannot say");
  }
  if (item.contains("default")) f.default_text = normalised_default(text_of(item.at("default")));
  // Kafka's generator gives records null as their default, whatever is written.
  if (f.type == "records" && !f.nullable.empty()) f.default_text = "null";
  f.ignorable = item.value("ignorable", false);
  if (item.contains("fields")) {
    f.fields = kafka_fields(item.at("fields"), message, common);
  } else if (structure) {
    f.fields = kafka_fields(common.at(element), message, common);
  }
  return f;
}

std::vector<field> kafka_fields(const json& list, const schema& message, const common_structs& common) {
  std::vector<field> out;
  for (const json& item : list) out.push_back(kafka_field(item, message, common));
  return out;
}

}  // namespace

std::vector<schema> parse_ours(const std::string& text) {
  std::vector<schema> out;
  for (const json& item : json::parse(text)) {
    schema s;
    s.name = item.at("name");
    s.kind = item.at("kind");
    s.api_key = item.at("api_key");
    s.valid = our_range(item.at("versions"));
    s.flexible = our_range(item.at("flexible"));
    s.latest_unstable = !item.at("unstable_from").is_null();
    s.fields = our_fields(item.at("fields"), s);
    out.push_back(std::move(s));
  }
  return out;
}

schema parse_kafka(const std::string& text) {
  const json item = json::parse(text, nullptr, true, true);  // their files have comments
  schema s;
  s.name = item.at("name");
  s.kind = item.at("type");
  s.api_key = item.value("apiKey", -1);
  s.valid = kafka_range(item.at("validVersions"));
  s.flexible = kafka_range(item.value("flexibleVersions", "none"));
  s.latest_unstable = item.value("latestVersionUnstable", false);
  common_structs common;
  if (item.contains("commonStructs")) {
    for (const json& structure : item.at("commonStructs")) common.emplace(structure.at("name"), structure.at("fields"));
  }
  s.fields = kafka_fields(item.value("fields", json::array()), s, common);
  return s;
}

}  // namespace braidmq::conformance
