#include "protocol/errc.hpp"

#include <string>

namespace braidmq::protocol {
namespace {

class protocol_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "protocol"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::truncated:
        return "input ends inside a value";
      case errc::malformed:
        return "malformed input";
      case errc::unsupported_version:
        return "version not supported";
      case errc::unknown_api:
        return "unknown API key";
      case errc::unsupported_field:
        return "field cannot be sent in this version";
      case errc::unexpected_null:
        return "null where this version has no null";
      case errc::too_long:
        return "value too long for its length field";
      case errc::too_large:
        return "too large in memory";
    }
    return "unknown protocol error";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const protocol_category category;
  return {static_cast<int>(code), category};
}

}  // namespace braidmq::protocol
