// Arbitrary bytes as the body of a refusal, and as the object of an ERROR event. The first two bytes are the HTTP code.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "k8s/api_status.hpp"

namespace {

using namespace braidmq;

void check(const k8s::api_status& status) {
  BRAID_CHECK(!status.message.empty() && status.message.size() <= 2048 && status.reason.size() <= 128);
  for (const char c : status.message) BRAID_CHECK(static_cast<unsigned char>(c) >= 0x20);
  if (status.retry_after) BRAID_CHECK(status.retry_after->count() > 0 && status.retry_after->count() <= 3600);
  for (const auto doing : {k8s::operation::read, k8s::operation::create, k8s::operation::patch}) {
    BRAID_CHECK(k8s::to_error(status, doing).code.value() != 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const int code = 100 + (data[0] * 256 + data[1]) % 900;
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  check(k8s::decode_status(code, body));
  const auto object = k8s::decode_object(body);
  if (object) check(k8s::decode_stream_status(*object));
  return 0;
}
