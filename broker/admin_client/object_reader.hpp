// Reads the members of a JSON object into values and remembers the first thing that is wrong, with the path to it, so
// that a whole structure is read without a check after each line.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"

namespace braidmq::admin_client {

class object_reader {
 public:
  // `where`: the path to the object, "" for the outermost. Refuses what is no object.
  object_reader(const nlohmann::json& from, std::string where);

  // Members that must be there.
  void read(std::string_view name, std::string& into);
  void read(std::string_view name, bool& into);
  void read(std::string_view name, std::int32_t& into);
  void read(std::string_view name, std::uint16_t& into);
  void read(std::string_view name, std::uint64_t& into);
  void read(std::string_view name, std::vector<std::string>& into);
  void read(std::string_view name, std::vector<std::int32_t>& into);
  void read(std::string_view name, std::map<std::string, std::string>& into);
  void read(std::string_view name, std::map<std::string, std::optional<std::string>>& into);  // null: nothing
  // Objects, each by a reader of its own: read_one(object_reader&) -> T.
  template <class T, class ReadOne>
  void read_list(std::string_view name, std::vector<T>& into, ReadOne read_one) {
    const std::size_t count = list_size(name);
    for (std::size_t i = 0; i < count && state_; ++i) {
      object_reader one = element(name, i);
      into.push_back(read_one(one));
      if (state_ && !one.state_) state_ = tl::unexpected(one.state_.error());
    }
  }

  // As read(), for a member that may be absent: then `into` stays.
  template <class T>
  void read_if_there(std::string_view name, T& into) {
    if (has(name)) read(name, into);
    note(name);
  }
  template <class T>
  void read_if_there(std::string_view name, std::optional<T>& into) {
    if (has(name)) read(name, into.emplace());
    note(name);
  }

  bool has(std::string_view name) const;
  // errc::invalid_request when something was wrong; with `strict`, also when there are members that nobody asked for.
  status finish(bool strict = false) const;

 private:
  const nlohmann::json* find(std::string_view name);
  std::size_t list_size(std::string_view name);
  object_reader element(std::string_view name, std::size_t index) const;
  void note(std::string_view name) { known_.emplace_back(name); }
  void refuse(std::string_view name, std::string_view expected);
  std::string path(std::string_view name) const;
  template <class Int>
  void read_integer(std::string_view name, Int& into);

  const nlohmann::json* from_;
  std::string where_;
  status state_;
  std::vector<std::string> known_;
};

}  // namespace braidmq::admin_client
