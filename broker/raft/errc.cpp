#include <string>

#include "raft/node.hpp"

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
        return "this version cannot serve such a membership";
      case errc::contradictory_state:
        return "the stored Raft state contradicts itself";
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
