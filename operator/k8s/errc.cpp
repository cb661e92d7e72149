#include "k8s/errc.hpp"

#include <string>

namespace braidmq::k8s {
namespace {

class k8s_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "k8s"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::not_found:
        return "not found";
      case errc::already_exists:
        return "already exists";
      case errc::conflict:
        return "conflict";
      case errc::gone:
        return "resource version is too old";
      case errc::invalid:
        return "invalid request";
      case errc::forbidden:
        return "forbidden";
      case errc::unauthorized:
        return "unauthorized";
      case errc::too_many_requests:
        return "too many requests";
      case errc::server_error:
        return "server error";
      case errc::timed_out:
        return "timed out";
      case errc::network:
        return "network error";
      case errc::tls:
        return "certificate not verified";
      case errc::bad_response:
        return "bad response";
      case errc::canceled:
        return "canceled";
      case errc::config:
        return "no usable configuration";
      case errc::not_leading:
        return "not leading";
    }
    return "unknown Kubernetes error";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const k8s_category category;
  return {static_cast<int>(code), category};
}

}  // namespace braidmq::k8s
