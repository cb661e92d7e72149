// What shows that somebody knows a secret without saying it: HMAC-SHA256 over what was said on the connection so far.
//
// Pure; any thread. Source: RFC 2104; the roles and both nonces are covered, so that no proof can be sent back to
// whoever made it or used on another connection.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"

namespace braidmq::peer {

inline constexpr std::size_t proof_bytes = 32;
inline constexpr std::size_t nonce_bytes = 32;
using proof = std::array<std::byte, proof_bytes>;

enum class side { opened, took };  // the connection

// The secrets of a broker: the first is in use, the others are known too while they are being replaced.
class secrets {
 public:
  explicit secrets(std::vector<std::string> all);  // each of 32 bytes or more

  const std::vector<std::int64_t>& names() const { return names_; }
  // The first of ours that is among `theirs`.
  std::optional<std::int64_t> common(const std::vector<std::int64_t>& theirs) const;
  bool has(std::int64_t name) const;

  // `said`: the frames so far, in their order. Requires has(name).
  proof prove(std::int64_t name, side who, std::initializer_list<byte_view> said) const;
  // Takes the same time whichever byte differs.
  bool holds(std::int64_t name, side who, std::initializer_list<byte_view> said, byte_view claimed) const;

 private:
  const std::string& secret_of(std::int64_t name) const;

  std::vector<std::string> all_;
  std::vector<std::int64_t> names_;  // same order
};

}  // namespace braidmq::peer
