#include "metadata/errc.hpp"

#include <string>

namespace braidmq::metadata {
namespace {

class metadata_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "metadata"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::topic_exists:
        return "topic exists";
      case errc::invalid_topic_name:
        return "invalid topic name";
      case errc::name_collision:
        return "topic name collides with another";
      case errc::invalid_partitions:
        return "invalid number of partitions";
      case errc::invalid_replication_factor:
        return "invalid replication factor";
      case errc::unknown_topic:
        return "no such topic";
      case errc::unknown_topic_id:
        return "no topic of this id";
      case errc::invalid_config:
        return "invalid topic config";
      case errc::invalid_request:
        return "invalid request";
      case errc::not_controller:
        return "no controller here";
      case errc::timed_out:
        return "timed out, outcome unknown";
      case errc::stopped:
        return "broker is stopping";
      case errc::broker_id_claimed:
        return "broker id is claimed by another life";
      case errc::not_founded:
        return "no cluster";
    }
    return "unknown metadata error";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const metadata_category category;
  return {static_cast<int>(code), category};
}

}  // namespace braidmq::metadata
