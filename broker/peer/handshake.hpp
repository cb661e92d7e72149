// How two brokers come to know each other before anything else goes over their connection: versions, cluster, who each
// is and in which life, and that both know the cluster's secret. Format: docs/formats/peer.md.
//
//   opened: hello           -> took
//   took:   answer + proof  -> opened
//   opened: proof           -> took
//   took:   welcome         -> opened          both are done; or at any point: refusal, and the connection ends
//
// Pure state machines: frames (without their length) go in and come out; time limits and sockets are the caller's. What
// comes before a valid proof is believed by nobody: it decides nothing but versions and which secret is meant, and who
// has not proven itself gets a reason, but no words. Whether an incarnation may act under its id is not decided here.
//
// Single-threaded. Errors: peer::errc; those that the other end sent have "it says" in their words.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.hpp"
#include "base/uuid.hpp"
#include "io/random.hpp"
#include "model/ids.hpp"
#include "peer/errc.hpp"
#include "peer/proof.hpp"

namespace braidmq::peer {

inline constexpr std::int16_t first_version = 1;  // of the protocol between brokers, spoken here
inline constexpr std::int16_t last_version = 1;
inline constexpr std::size_t max_handshake_frame_bytes = 4096;  // a larger one is refused unread

// What a broker says of itself.
struct identity {
  model::broker_id broker;
  uuid incarnation;
  uuid cluster_id;  // zero: not known yet
  std::int16_t newest_apply_level = 0;
  std::int16_t first_version = peer::first_version;
  std::int16_t last_version = peer::last_version;
};

// The other end, proven.
struct acquaintance {
  identity other;            // its versions: the one that both speak, twice
  std::int16_t version = 0;  // that both speak
};

// After a frame: `send` (if any) goes out first; then the handshake is over when `done` is there or `ended` says why it
// failed.
struct handshake_step {
  std::optional<bytes> send;
  std::optional<acquaintance> done;
  std::optional<error> ended;
};

class opening_handshake {
 public:
  // `wanted`: the broker that is meant to be at the address.
  opening_handshake(identity self, model::broker_id wanted, const secrets& known, io::random_source& random);

  bytes hello() const { return hello_; }
  handshake_step take(const bytes& frame);

 private:
  enum class state { awaits_answer, awaits_welcome, over };

  handshake_step take_answer(const bytes& frame);

  identity self_;
  model::broker_id wanted_;
  secrets secrets_;
  bytes hello_;
  state state_ = state::awaits_answer;
  acquaintance met_;
};

class taking_handshake {
 public:
  taking_handshake(identity self, const secrets& known, io::random_source& random);

  handshake_step take(const bytes& frame);

 private:
  enum class state { awaits_hello, awaits_proof, over };

  handshake_step take_hello(const bytes& frame);
  handshake_step take_proof(const bytes& frame);

  identity self_;
  secrets secrets_;
  io::random_source& random_;
  bytes hello_;
  bytes answer_;  // with its proof
  std::int64_t key_ = 0;
  state state_ = state::awaits_hello;
  model::broker_id wanted_;  // as the other end said
  acquaintance met_;
};

}  // namespace braidmq::peer
