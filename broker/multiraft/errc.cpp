#include <string>

#include "multiraft/group.hpp"

namespace braidmq::multiraft {
namespace {

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "multiraft"; }
  std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::not_leader:
        return "this node does not lead the group";
      case errc::busy:
        return "too much is proposed and not yet applied";
      case errc::transferring:
        return "the leader hands over its office";
      case errc::lost:
        return "the leader changed meanwhile";
      case errc::stopped:
        return "the group has stopped";
      case errc::checkpoint_damaged:
        return "the checkpoint is damaged";
      case errc::checkpoint_format:
        return "not a checkpoint that can be read here";
    }
    return "unknown multiraft error";
  }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const category instance;
  return {static_cast<int>(code), instance};
}

}  // namespace braidmq::multiraft
