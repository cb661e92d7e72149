#include "braid/errc.hpp"

#include <string>

namespace braidmq::braid {
namespace {

class braid_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "braid"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::not_leader:
        return "this broker does not lead the braid";
      case errc::unknown_partition:
        return "no such partition";
      case errc::out_of_order_sequence:
        return "sequence number out of order";
      case errc::stale_producer_epoch:
        return "producer epoch is older than the current one";
      case errc::not_attempted:
        return "another part of the atomic write was refused";
      case errc::too_large:
        return "larger than one entry may be";
      case errc::timed_out:
        return "timed out, outcome unknown";
      case errc::offset_out_of_range:
        return "offset out of range";
      case errc::fenced_leader_epoch:
        return "leader epoch of the request is older than the current one";
      case errc::unknown_leader_epoch:
        return "leader epoch of the request is newer than the current one";
      case errc::disk_full:
        return "the disk is full";
      case errc::offset_not_available:
        return "this replica has not got so far yet";
      case errc::later_version:
        return "made by a later version";
      case errc::storage_failed:
        return "storage failed";
      case errc::stopped:
        return "broker is stopping";
    }
    return "unknown braid error";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const braid_category category;
  return {static_cast<int>(code), category};
}

}  // namespace braidmq::braid
