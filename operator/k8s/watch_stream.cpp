#include "k8s/watch_stream.hpp"

#include <array>

#include <fmt/format.h>

#include "k8s/errc.hpp"

namespace braidmq::k8s {

result<bool> line_splitter::feed(std::string_view piece, const std::function<bool(std::string_view)>& line) {
  while (!piece.empty()) {
    const std::size_t end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    if (part.size() > max_ - partial_.size()) {
      return fail(errc::bad_response, fmt::format("a line of the watch is longer than {} bytes", max_));
    }
    if (end == std::string_view::npos) {
      partial_.append(part);
      return true;
    }
    piece.remove_prefix(end + 1);
    if (partial_.empty()) {
      if (!part.empty() && !line(part)) return false;
      continue;
    }
    partial_.append(part);
    const std::string whole = std::exchange(partial_, {});
    if (!line(whole)) return false;
  }
  return true;
}

result<watch_event> decode_watch_event(std::string_view line) {
  json document = json::parse(line, nullptr, false);
  const json* type = find(document, {"type"});
  if (type == nullptr || !type->is_string()) {
    return fail(errc::bad_response, fmt::format("a line of {} bytes in a watch is no event", line.size()));
  }
  static constexpr std::array<std::string_view, 5> known{"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};
  watch_event event{type->get<std::string>(), nullptr};
  if (std::find(known.begin(), known.end(), event.type) == known.end()) {
    return fail(errc::bad_response, "an event of the watch has an unknown type");
  }
  const auto object = document.find("object");
  if (object == document.end() || !object->is_object()) {
    return fail(errc::bad_response, fmt::format("an event {} of the watch has no object", event.type));
  }
  event.object = std::move(*object);
  return event;
}

}  // namespace braidmq::k8s
