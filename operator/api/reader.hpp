// Checked access to JSON that others wrote. A value of the wrong type is taken as absent and its path is noted, so that
// an object which slipped past its schema (an older CRD, a hand in etcd) gives a condition and never a crash.
//
// Owner: a decoder, on its stack; the JSON must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "k8s/object.hpp"

namespace braidmq::api {

using k8s::json;

// Sorted by key; costs less than a map when there are thousands of them.
using text_map = std::vector<std::pair<std::string, std::string>>;

const std::string* find(const text_map& map, std::string_view key);

class reader {
 public:
  // `at` may be null: everything is absent then. At most `max_problems` are noted.
  reader(const json* at, std::string path, std::vector<std::string>& problems);
  static constexpr std::size_t max_problems = 10;

  bool present() const { return at_ != nullptr; }
  bool has(std::string_view name) const { return member(name) != nullptr; }

  std::string text(std::string_view name, std::string_view fallback = {}) const;
  std::optional<std::string> optional_text(std::string_view name) const;
  std::int64_t number(std::string_view name, std::int64_t fallback, std::int64_t min, std::int64_t max) const;
  std::optional<std::int64_t> optional_number(std::string_view name, std::int64_t min, std::int64_t max) const;
  bool flag(std::string_view name, bool fallback) const;
  // One of `words`; the index of `fallback` when absent or another word.
  std::size_t choice(std::string_view name, std::initializer_list<std::string_view> words, std::size_t fallback) const;

  reader object(std::string_view name) const;
  text_map texts_by_name(std::string_view name) const;  // an object whose values are texts
  std::vector<std::string> texts(std::string_view name) const;
  void each(std::string_view name, const std::function<void(const reader&)>& item) const;  // a list of objects

  // As it is, for what goes to Kubernetes unread. Null when absent or of another shape.
  json raw_object(std::string_view name) const;
  json raw_list(std::string_view name) const;

 private:
  const json* member(std::string_view name) const;
  void wrong(std::string_view name, std::string_view expected) const;

  const json* at_;
  std::string path_;
  std::vector<std::string>* problems_;
};

}  // namespace braidmq::api
