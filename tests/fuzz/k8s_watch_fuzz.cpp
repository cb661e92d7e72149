// Arbitrary bytes as the body of a watch. The first two bytes choose the limit of a line and the size of the pieces;
// how the body is cut must not matter.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "k8s/watch_stream.hpp"

namespace {

using namespace braidmq;

struct outcome {
  std::vector<std::string> lines;
  bool good = true;
};

outcome split(std::string_view body, std::size_t limit, std::size_t piece) {
  outcome got;
  k8s::line_splitter lines(limit);
  for (std::size_t at = 0; at < body.size() && got.good; at += piece) {
    got.good = lines
                   .feed(body.substr(at, piece),
                         [&](std::string_view line) {
                           got.lines.emplace_back(line);
                           return true;
                         })
                   .has_value();
    BRAID_CHECK(lines.partial_bytes() <= limit);
  }
  return got;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::size_t limit = std::size_t{1} << (data[0] % 17U);
  const std::size_t piece = 1 + data[1];
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);

  const outcome pieces = split(body, limit, piece);
  const outcome whole = split(body, limit, body.size() + 1);
  BRAID_CHECK(pieces.good == whole.good && pieces.lines == whole.lines);
  for (const std::string& line : whole.lines) {
    BRAID_CHECK(!line.empty() && line.size() <= limit && line.find('\n') == std::string::npos);
    const auto event = k8s::decode_watch_event(line);
    if (!event) continue;
    BRAID_CHECK(event->object.is_object());
    (void)k8s::key_of(event->object);
    (void)k8s::resource_version_of(event->object);
  }
  return 0;
}
