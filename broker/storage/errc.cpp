#include <string>

#include "storage/partition_log.hpp"

namespace braidmq::storage {
namespace {

class storage_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "storage"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::offset_out_of_range:
        return "offset out of range";
      case errc::corrupt:
        return "stored bytes are damaged";
      case errc::removed:
        return "the log is being removed";
      case errc::failed:
        return "an earlier write failed";
    }
    return "unknown storage error";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const storage_category category;
  return {static_cast<int>(code), category};
}

}  // namespace braidmq::storage
