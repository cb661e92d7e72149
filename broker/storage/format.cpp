#include "storage/format.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/check.hpp"

namespace braidmq::storage {
namespace {

constexpr std::size_t base_digits = 20;
constexpr std::array<std::string_view, 3> extensions{".log", ".index", ".timeindex"};

}  // namespace

std::string segment_file(model::offset base, file_kind kind) {
  BRAID_CHECK(base.value() >= 0, "segment at offset {}", base);
  return fmt::format("{:020}{}", base.value(), extensions[static_cast<std::size_t>(kind)]);
}

std::optional<segment_file_name> parse_segment_file(std::string_view name) {
  if (name.size() <= base_digits) return std::nullopt;
  for (std::size_t kind = 0; kind < extensions.size(); ++kind) {
    if (name.substr(base_digits) != extensions[kind]) continue;
    const char* const end = name.data() + base_digits;
    std::int64_t base = 0;
    const auto [stop, failure] = std::from_chars(name.data(), end, base);
    if (failure != std::errc() || stop != end || name[0] == '-') return std::nullopt;
    return segment_file_name{model::offset(base), static_cast<file_kind>(kind)};
  }
  return std::nullopt;
}

}  // namespace braidmq::storage
