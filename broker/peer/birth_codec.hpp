// The state of a birth as a frame of a channel, and as the content of a file (docs/formats/peer.md).
//
// Pure; any thread. Errors: errc::bad_frame.
#pragma once

#include "base/result.hpp"
#include "peer/birth.hpp"
#include "peer/errc.hpp"

namespace braidmq::peer {

bytes to_frame(const birth_state& state);
result<birth_state> birth_in_frame(const bytes& frame);

// The same with a CRC32C behind.
bytes to_file(const birth_state& state);
result<birth_state> birth_in_file(const bytes& content);

inline constexpr std::size_t max_birth_file_bytes = 4096;

}  // namespace braidmq::peer
