// Version by version: which fields are on the wire, in which order, and how each is written.
#include <algorithm>

#include <fmt/format.h>

#include "conformance/schema_model.hpp"

namespace braidmq::conformance {
namespace {

// The fields of one version: the plain ones in order, then the tagged ones by tag.
std::vector<const field*> in_version(const std::vector<field>& fields, int version) {
  std::vector<const field*> out;
  std::vector<const field*> tagged;
  for (const field& f : fields) {
    if (!f.extension && f.on_wire.contains(version)) (f.tag ? tagged : out).push_back(&f);
  }
  std::sort(tagged.begin(), tagged.end(), [](const field* a, const field* b) { return *a->tag < *b->tag; });
  out.insert(out.end(), tagged.begin(), tagged.end());
  return out;
}

class comparer {
 public:
  comparer(const schema& ours, const schema& kafka) : ours_(ours), kafka_(kafka) {}

  comparison run() {
    check("", "kind", ours_.kind, kafka_.kind);
    check("", "API key", ours_.api_key, kafka_.api_key);
    if (ours_.latest_unstable && !kafka_.latest_unstable) differ("", "our latest version is unstable, Kafka's is not");
    if (kafka_.latest_unstable && !ours_.latest_unstable && ours_.valid.contains(kafka_.valid.last)) {
      differ("", "Kafka's latest version is unstable, ours is not");
    }
    for (version_ = ours_.valid.first; version_ <= ours_.valid.last; ++version_) {
      ++out_.versions;
      if (!kafka_.valid.contains(version_)) {
        differ("", "Kafka has no such version");
        continue;
      }
      check("", "flexible", ours_.flexible.contains(version_), kafka_.flexible.contains(version_));
      fields("", ours_.fields, kafka_.fields);
    }
    absent_fields("", ours_.fields, kafka_.fields, ours_.valid);
    return std::move(out_);
  }

 private:
  void differ(const std::string& path, const std::string& text) {
    out_.differences.push_back(
        fmt::format("{} v{}{}{}: {}", ours_.name, version_, path.empty() ? "" : " ", path, text));
  }
  template <class T>
  void check(const std::string& path, const char* what, const T& ours, const T& kafka) {
    if (ours != kafka) differ(path, fmt::format("{} is '{}', in Kafka '{}'", what, ours, kafka));
  }

  void fields(const std::string& path, const std::vector<field>& our_list, const std::vector<field>& kafka_list) {
    const auto ours = in_version(our_list, version_);
    const auto theirs = in_version(kafka_list, version_);
    for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
      if (i >= ours.size()) {
        differ(path, fmt::format("field '{}' is missing", theirs[i]->name));
      } else if (i >= theirs.size()) {
        differ(path, fmt::format("field '{}' is not in Kafka", ours[i]->name));
      } else {
        one_field(path + (path.empty() ? "" : ".") + theirs[i]->name, *ours[i], *theirs[i]);
      }
    }
  }

  void one_field(const std::string& path, const field& ours, const field& kafka) {
    check(path, "name", ours.name, kafka.name);
    check(path, "type", ours.type, kafka.type);
    check(path, "nullable", ours.nullable.contains(version_), kafka.nullable.contains(version_));
    check(path, "compact", ours.compact.contains(version_), kafka.compact.contains(version_));
    check(path, "tag", ours.tag.value_or(-1), kafka.tag.value_or(-1));
    check(path, "default", ours.default_text, kafka.default_text);
    fields(path, ours.fields, kafka.fields);
  }

  // Whether a set field may be dropped matters only if there is a version to drop it in.
  void absent_fields(const std::string& path, const std::vector<field>& ours, const std::vector<field>& kafka,
                     versions around) {
    for (const field& f : ours) {
      const auto theirs = std::ranges::find(kafka, f.name, &field::name);
      if (f.extension || theirs == kafka.end()) continue;
      const std::string inner = path + (path.empty() ? "" : ".") + f.name;
      version_ = f.on_wire.first;
      if (f.on_wire.first > around.first || f.on_wire.last < around.last)
        check(inner, "ignorable", f.ignorable, theirs->ignorable);
      absent_fields(inner, f.fields, theirs->fields, f.on_wire);
    }
  }

  const schema& ours_;
  const schema& kafka_;
  int version_ = 0;
  comparison out_;
};

}  // namespace

comparison compare(const schema& ours, const schema& kafka) {
  return comparer(ours, kafka).run();
}

}  // namespace braidmq::conformance
