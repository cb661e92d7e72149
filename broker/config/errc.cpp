#include "config/errc.hpp"

#include <string>

namespace braidmq::config {
namespace {

class config_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "config"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::not_readable:
        return "cannot read the configuration";
      case errc::unknown_key:
        return "unknown key";
      case errc::duplicate_key:
        return "the same key twice";
      case errc::bad_value:
        return "bad value";
    }
    return "unknown config error";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const config_category category;
  return {static_cast<int>(code), category};
}

}  // namespace braidmq::config
