#include "peer/proof.hpp"

#include <algorithm>

#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include "base/check.hpp"
#include "base/endian.hpp"

namespace braidmq::peer {
namespace {

proof hmac(std::string_view secret, byte_view text) {
  proof made{};
  unsigned int size = 0;
  const auto* done = HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                          reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                          reinterpret_cast<unsigned char*>(made.data()), &size);
  BRAID_CHECK(done != nullptr && size == made.size(), "HMAC-SHA256 failed");
  return made;
}

// Lengths stand before the parts, so that no two lists of parts are the same text.
bytes text_of(std::string_view label, std::initializer_list<byte_view> said) {
  byte_buffer text;
  text.append(label);
  for (const byte_view part : said) {
    text.append_be(static_cast<std::uint64_t>(part.size()));
    text.append(part);
  }
  return text.freeze();
}

std::string_view label_of(side who) {
  return who == side::opened ? "braidmq peer opened" : "braidmq peer took it";
}

}  // namespace

secrets::secrets(std::vector<std::string> all) : all_(std::move(all)) {
  for (const std::string& one : all_) {
    names_.push_back(load_be<std::int64_t>(hmac(one, text_of("braidmq peer name", {})).data()));
  }
}

std::optional<std::int64_t> secrets::common(const std::vector<std::int64_t>& theirs) const {
  const auto found = std::ranges::find_first_of(names_, theirs);
  return found == names_.end() ? std::nullopt : std::optional(*found);
}

bool secrets::has(std::int64_t name) const {
  return std::ranges::find(names_, name) != names_.end();
}

const std::string& secrets::secret_of(std::int64_t name) const {
  const auto found = std::ranges::find(names_, name);
  BRAID_CHECK(found != names_.end(), "no secret has this name");
  return all_[static_cast<std::size_t>(found - names_.begin())];
}

proof secrets::prove(std::int64_t name, side who, std::initializer_list<byte_view> said) const {
  return hmac(secret_of(name), text_of(label_of(who), said));
}

bool secrets::holds(std::int64_t name, side who, std::initializer_list<byte_view> said, byte_view claimed) const {
  const proof expected = prove(name, who, said);
  return claimed.size() == expected.size() && CRYPTO_memcmp(claimed.data(), expected.data(), expected.size()) == 0;
}

}  // namespace braidmq::peer
