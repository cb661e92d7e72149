#include <cerrno>
#include <cstring>

#include <sys/random.h>

#include "base/check.hpp"
#include "io/random.hpp"

namespace braidmq::io {
namespace {

class posix_random final : public random_source {
 public:
  void fill(mutable_byte_view target) override {
    while (!target.empty()) {
      const ssize_t got = ::getrandom(target.data(), target.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      BRAID_CHECK(got > 0, "getrandom: {}", std::strerror(errno));
      target = target.subspan(static_cast<std::size_t>(got));
    }
  }
};

}  // namespace

std::uint64_t random_source::next_u64() {
  std::uint64_t value = 0;
  fill({reinterpret_cast<std::byte*>(&value), sizeof value});
  return value;
}

uuid random_source::next_uuid() {
  uuid id;
  fill({reinterpret_cast<std::byte*>(id.octets.data()), id.octets.size()});
  id.octets[6] = static_cast<std::uint8_t>((id.octets[6] & 0x0fU) | 0x40U);
  id.octets[8] = static_cast<std::uint8_t>((id.octets[8] & 0x3fU) | 0x80U);
  return id;
}

random_source& system_random() {
  static posix_random source;
  return source;
}

}  // namespace braidmq::io
