#include "admin_client/strict_json.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admin_client/errc.hpp"

namespace braidmq::admin_client {
namespace {

using nlohmann::json;

// Builds the value from the parser's events. Names follow those that the library calls.
class builder final : public nlohmann::json_sax<json> {
 public:
  explicit builder(std::size_t max_depth) : max_depth_(max_depth) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return refuse("binary data"); }

  bool start_object(std::size_t) override { return open(json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (open_.back()->contains(name)) return refuse(fmt::format("\"{}\" is given twice", name));
    name_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    return refuse(fmt::format("not JSON at byte {}", position));
  }

  const std::string& why() const { return why_; }
  json take() { return std::move(root_); }

 private:
  bool refuse(std::string why) {
    if (why_.empty()) why_ = std::move(why);
    return false;
  }

  json* place(json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[std::move(name_)] = std::move(value));
  }

  bool put(json value) {
    place(std::move(value));
    return true;
  }

  bool open(json empty) {
    if (open_.size() >= max_depth_) return refuse(fmt::format("deeper than {} levels", max_depth_));
    // Pointers to open values stay: only the innermost grows.
    open_.push_back(place(std::move(empty)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::size_t max_depth_;
  json root_;
  std::vector<json*> open_;
  std::string name_;
  std::string why_;
};

}  // namespace

result<json> parse_json(std::string_view text, std::size_t max_depth) {
  try {
    builder made(max_depth);
    if (json::sax_parse(text.begin(), text.end(), &made)) return made.take();
    return fail(errc::invalid_request, made.why());
  } catch (const std::exception&) {
    return fail(errc::invalid_request, "not JSON");
  }
}

std::string to_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace braidmq::admin_client
