#include "kafka_client/errc.hpp"

#include <string>

namespace braidmq::kafka_client {
namespace {

class kafka_client_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "kafka_client"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::unreachable:
        return "broker not reachable";
      case errc::timed_out:
        return "no whole answer of the broker, outcome unknown";
      case errc::bad_answer:
        return "not an answer of a broker";
      case errc::unsupported:
        return "not supported by the broker";
      case errc::invalid_request:
        return "invalid request";
      case errc::refused:
        return "refused by the broker";
    }
    return "unknown";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const kafka_client_category category;
  return {static_cast<int>(code), category};
}

}  // namespace braidmq::kafka_client
