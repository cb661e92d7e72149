#include "app/config_errc.hpp"

#include <string>

namespace braidmq::app {
namespace {

class config_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "config"; }
  std::string message(int value) const override {
    switch (static_cast<config_errc>(value)) {
      case config_errc::not_readable:
        return "cannot read the configuration";
      case config_errc::unknown_key:
        return "unknown key";
      case config_errc::duplicate_key:
        return "the same key twice";
      case config_errc::bad_value:
        return "bad value";
    }
    return "unknown config error";
  }
};

}  // namespace

std::error_code make_error_code(config_errc code) {
  static const config_category category;
  return {static_cast<int>(code), category};
}

}  // namespace braidmq::app
