#include "io/errc.hpp"

#include <string>

namespace braidmq::io {
namespace {

class io_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "io"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::not_found:
        return "not found";
      case errc::already_exists:
        return "already exists";
      case errc::no_space:
        return "no space left on device";
      case errc::permission_denied:
        return "permission denied";
      case errc::busy:
        return "in use by another process";
      case errc::device_error:
        return "device error";
      case errc::closed:
        return "connection closed";
      case errc::bad_address:
        return "not a usable address";
    }
    return "unknown io error";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const io_category category;
  return {static_cast<int>(code), category};
}

}  // namespace braidmq::io
