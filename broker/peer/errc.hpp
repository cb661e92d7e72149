// Why two brokers do not speak to each other. The numbers go over the wire in a refusal: they keep their meaning.
#pragma once

#include <system_error>

namespace braidmq::peer {

enum class errc {
  bad_frame = 1,      // not what the handshake allows here
  no_common_version,  // of the protocol between brokers
  no_common_secret,   // neither knows a secret of the other
  bad_proof,          // whoever sent it does not know the secret
  other_cluster,      // the two belong to different clusters
  wrong_broker,       // another broker than the one that was meant answers at this address
  same_broker,        // the other one has our own id
  timed_out,          // it was silent, or took nothing, for too long; never in a refusal
};

std::error_code make_error_code(errc code);

}  // namespace braidmq::peer

template <>
struct std::is_error_code_enum<braidmq::peer::errc> : std::true_type {};
