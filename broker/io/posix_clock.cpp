#include "io/clock.hpp"

namespace braidmq::io {
namespace {

class posix_clock final : public clock {
 public:
  time_point now() const override { return std::chrono::steady_clock::now(); }
  std::int64_t wall_ms() const override {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
  }
};

}  // namespace

const clock& system_clock() {
  static const posix_clock clock;
  return clock;
}

}  // namespace braidmq::io
