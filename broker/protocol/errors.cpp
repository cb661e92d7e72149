#include "protocol/errors.hpp"

#include <algorithm>
#include <array>

namespace braidmq::protocol {
namespace {

constexpr std::array error_table = {
#define BRAID_ERROR(code, name, retriable, text) error_info{error_code::name, #name, retriable, text},
#include "protocol/errors.def"
#undef BRAID_ERROR
};
static_assert(std::ranges::is_sorted(error_table, std::ranges::less{}, &error_info::code));

}  // namespace

std::span<const error_info> all_errors() {
  return error_table;
}

const error_info* find_error(error_code code) {
  const auto found = std::ranges::lower_bound(error_table, code, std::ranges::less{}, &error_info::code);
  return found != error_table.end() && found->code == code ? &*found : nullptr;
}

bool is_retriable(error_code code) {
  const error_info* info = find_error(code);
  return info != nullptr && info->retriable;
}

std::string to_string(error_code code) {
  const error_info* info = find_error(code);
  if (info == nullptr) return "ERROR_" + std::to_string(static_cast<std::int16_t>(code));
  std::string name(info->name);
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return name;
}

std::string_view error_text(error_code code) {
  const error_info* info = find_error(code);
  return info == nullptr ? "an error that this version of BraidMQ does not know" : info->text;
}

}  // namespace braidmq::protocol
