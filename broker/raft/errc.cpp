#include "raft/errc.hpp"

#include <string>

namespace braidmq::raft {
namespace {

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "raft"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::not_leader:
        return "this node does not lead the group";
      case errc::unsupported_membership:
        return "such a membership cannot be served";
      case errc::contradictory_state:
        return "the stored Raft state contradicts itself";
      case errc::transferring:
        return "leadership is being handed over";
      case errc::no_such_voter:
        return "the group has no such other voter";
      case errc::not_ready:
        return "this leader has not yet committed an entry of its term";
      case errc::too_many_reads:
        return "too many reads wait for their index";
    }
    return "unknown raft error";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const category instance;
  return {static_cast<int>(code), instance};
}

}  // namespace braidmq::raft
