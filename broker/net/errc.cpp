#include "net/errc.hpp"

#include <string>

namespace braidmq::net {
namespace {

class net_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "net"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::bad_address:
        return "not a usable address";
      case errc::address_in_use:
        return "address in use";
      case errc::not_reachable:
        return "not reachable";
      case errc::timed_out:
        return "timed out";
      case errc::dropped:
        return "dropped without an answer";
    }
    return "unknown net error";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const net_category category;
  return {static_cast<int>(code), category};
}

}  // namespace braidmq::net
