#include "peer/errc.hpp"

#include <string>

namespace braidmq::peer {
namespace {

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "peer"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::bad_frame:
        return "not a frame of the handshake between brokers";
      case errc::no_common_version:
        return "no version of the protocol between brokers is common to both";
      case errc::no_common_secret:
        return "no secret is common to both brokers";
      case errc::bad_proof:
        return "the other end does not know the secret";
      case errc::other_cluster:
        return "the other broker belongs to another cluster";
      case errc::wrong_broker:
        return "another broker answers at this address";
      case errc::same_broker:
        return "the other broker has the same id";
      case errc::timed_out:
        return "the other broker does not answer in time";
    }
    return "unknown error between brokers";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const category instance;
  return {static_cast<int>(code), instance};
}

}  // namespace braidmq::peer
