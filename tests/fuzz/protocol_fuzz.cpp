// Bytes from outside against every decoder: the first two bytes pick message and version, the rest is its body. What is
// accepted must encode, and come back equal and byte for byte. Built with -DBRAID_FUZZ=ON (libFuzzer).
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "protocol/generated/all_messages.hpp"
#include "protocol/message.hpp"

namespace {

using namespace braidmq;
using namespace braidmq::protocol;

template <class T>
void decode_encode_decode(const bytes& body, std::uint8_t selector) {
  constexpr int versions = T::max_version - T::min_version + 1;
  const auto version = static_cast<std::int16_t>(T::min_version + selector % versions);
  const auto first = T::decode(body, version);
  if (!first) return;
  byte_buffer buffer;
  const status encoded = first->encode(buffer, version);
  BRAID_CHECK(encoded.has_value(), "{} v{} does not encode", T::name, version);
  const bytes canonical = buffer.freeze();
  const auto second = T::decode(canonical, version);
  BRAID_CHECK(second.has_value(), "{} v{} does not decode again", T::name, version);
  BRAID_CHECK(*second == *first, "{} v{} has changed: {} -> {}", T::name, version, first->to_json(), second->to_json());
  byte_buffer again;
  BRAID_CHECK(second->encode(again, version).has_value());
  BRAID_CHECK(again.freeze() == canonical, "{} v{} encodes in two ways", T::name, version);
}

using target = void (*)(const bytes&, std::uint8_t);
#define BRAID_TARGET(type) &decode_encode_decode<type>,
constexpr std::array targets = {BRAID_ALL_MESSAGES(BRAID_TARGET)};
#undef BRAID_TARGET

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  // A block of just that size, so that the sanitizer sees every read beyond the end.
  const bytes body = bytes::copy_of(byte_view(reinterpret_cast<const std::byte*>(data) + 2, size - 2));
  const std::size_t choice = data[0] % (targets.size() + 1);
  if (choice == targets.size()) {
    (void)decode_request_frame(body);
  } else {
    targets[choice](body, data[1]);
  }
  return 0;
}
