#include <string>

#include "wal/log.hpp"

namespace braidmq::wal {
namespace {

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "wal"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::corrupt:
        return "durable bytes of the WAL are damaged";
      case errc::wrong_format:
        return "not a WAL of this version";
      case errc::failed:
        return "an earlier write of the WAL failed";
      case errc::not_retained:
        return "the WAL does not hold this entry";
    }
    return "unknown wal error";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const category instance;
  return {static_cast<int>(code), instance};
}

}  // namespace braidmq::wal
