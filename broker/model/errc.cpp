#include "model/errc.hpp"

#include <string>

namespace braidmq::model {
namespace {

class model_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "model"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::corrupt_message:
        return "corrupt message";
      case errc::message_too_large:
        return "message too large";
      case errc::invalid_topic:
        return "invalid topic name";
      case errc::invalid_timestamp:
        return "timestamp out of range";
      case errc::unsupported_compression:
        return "unsupported compression type";
      case errc::invalid_record:
        return "invalid record";
      case errc::incomplete_batch:
        return "incomplete record batch";
    }
    return "unknown model error";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const model_category category;
  return {static_cast<int>(code), category};
}

}  // namespace braidmq::model
