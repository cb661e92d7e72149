#include "protocol/api_table.hpp"

#include <algorithm>
#include <array>

namespace braidmq::protocol {
namespace {

constexpr std::array table = {
#define BRAID_API(key, text, type, min, max, stable, flexible_request, flexible_response) \
  api_description{api_key::type, text, min, max, stable, flexible_request, flexible_response},
#include "protocol/generated/api_table.inc"
#undef BRAID_API
};

}  // namespace

std::span<const api_description> api_table() {
  return table;
}

const api_description* find_api(std::int16_t key) {
  const auto wanted = static_cast<api_key>(key);
  const auto found = std::ranges::lower_bound(table, wanted, std::ranges::less{}, &api_description::key);
  return found != table.end() && found->key == wanted ? &*found : nullptr;
}

}  // namespace braidmq::protocol
