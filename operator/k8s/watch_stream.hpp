// The body of a watch: one JSON document a line, cut anywhere by TLS and HTTP. Pure; never throws.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.hpp"
#include "k8s/object.hpp"

namespace braidmq::k8s {

class line_splitter {
 public:
  static constexpr std::size_t default_max_line_bytes = 16U << 20U;
  explicit line_splitter(std::size_t max_line_bytes = default_max_line_bytes) : max_(max_line_bytes) {}

  // Gives each line that is complete by now, without its end, and without empty ones; false from `line` stops there and
  // drops the rest of the piece. errc::bad_response: a line is longer than the limit, nothing more will be understood.
  result<bool> feed(std::string_view piece, const std::function<bool(std::string_view)>& line);

  // Bytes of a line whose end has not come; dropped with the splitter.
  std::size_t partial_bytes() const { return partial_.size(); }

 private:
  std::size_t max_;
  std::string partial_;
};

struct watch_event {
  std::string type;
  json object;
};

// errc::bad_response: no JSON, no type, an unknown type, or no object.
result<watch_event> decode_watch_event(std::string_view line);

}  // namespace braidmq::k8s
