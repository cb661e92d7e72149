#include "peer/handshake.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/endian.hpp"
#include "peer/frame.hpp"
#include "protocol/generated/peer_handshake.hpp"

namespace braidmq::peer {
namespace {

constexpr std::size_t max_words_bytes = 500;

void begin(byte_buffer& frame, frame_kind kind, std::int16_t version = 0) {
  frame.append_be(static_cast<std::int16_t>(kind));
  frame.append_be(version);
}

template <class Record>
byte_buffer frame_of(frame_kind kind, const Record& record) {
  byte_buffer frame(256);
  begin(frame, kind, Record::max_version);
  const status written = record.encode(frame, Record::max_version);
  BRAID_CHECK(written.has_value(), "handshake: {}", written.error().to_string());
  return frame;
}

bytes bare_frame(frame_kind kind, byte_view content = {}) {
  byte_buffer frame(head_bytes + content.size());
  begin(frame, kind);
  frame.append(content);
  return frame.freeze();
}

bytes nonce_from(io::random_source& random) {
  std::vector<std::byte> made(nonce_bytes);
  random.fill(made);
  return bytes::take(std::move(made));
}

std::optional<frame_kind> kind_of(const bytes& frame) {
  if (frame.size() < head_bytes || frame.size() > max_handshake_frame_bytes) return std::nullopt;
  return static_cast<frame_kind>(load_be<std::int16_t>(frame.data()));
}

// Proof and welcome have no record, and one version.
bool is_bare(const bytes& frame, std::size_t content_bytes) {
  return frame.size() == head_bytes + content_bytes && load_be<std::int16_t>(frame.data() + sizeof(std::int16_t)) == 0;
}

template <class Record>
result<Record> read(const bytes& frame, std::size_t behind = 0) {
  if (frame.size() < head_bytes + behind) return fail(errc::bad_frame, "it is cut off");
  const auto version = load_be<std::int16_t>(frame.data() + sizeof(std::int16_t));
  auto record = Record::decode(frame.slice(head_bytes, frame.size() - head_bytes - behind), version);
  if (!record) return fail(errc::bad_frame, record.error().to_string());
  return record;
}

// The end of it, with a refusal that tells the other end why. A stranger gets no words.
handshake_step refuse(error why, bool is_known) {
  protocol::peer_refusal refusal;
  refusal.reason = static_cast<std::int16_t>(why.code.value());
  if (is_known) refusal.words = why.message.substr(0, max_words_bytes);
  handshake_step last;
  last.send = frame_of(frame_kind::refusal, refusal).freeze();
  last.ended = std::move(why);
  return last;
}

handshake_step refuse(errc code, std::string words, bool is_known) {
  return refuse(error{make_error_code(code), std::move(words)}, is_known);
}

// What is no frame that may come now: the other end's refusal, or nonsense.
handshake_step end_by(const bytes& frame, std::optional<frame_kind> kind) {
  if (kind != frame_kind::refusal) return refuse(errc::bad_frame, "another frame was due", false);
  auto said = read<protocol::peer_refusal>(frame);
  if (!said) return refuse(said.error(), false);
  const auto reason =
      std::clamp<int>(said->reason, static_cast<int>(errc::bad_frame), static_cast<int>(errc::same_broker));
  std::string words(said->words.begin(),
                    said->words.begin() + static_cast<std::ptrdiff_t>(std::min(said->words.size(), max_words_bytes)));
  // It goes to a log.
  std::ranges::replace_if(words, [](char c) { return static_cast<unsigned char>(c) < 0x20U; }, ' ');
  handshake_step last;
  last.ended = error{make_error_code(static_cast<errc>(reason)),
                     words.empty() ? std::string("it says no more") : fmt::format("it says: {}", words)};
  return last;
}

// Between two that have proven themselves.
std::optional<error> objection(const identity& self, const identity& other) {
  const bool know_both = !self.cluster_id.is_zero() && !other.cluster_id.is_zero();
  if (know_both && self.cluster_id != other.cluster_id) {
    return error{make_error_code(errc::other_cluster),
                 fmt::format("broker {} is of cluster {}, and this one, broker {}, of cluster {}", other.broker,
                             other.cluster_id, self.broker, self.cluster_id)};
  }
  if (other.broker == self.broker) {
    return error{make_error_code(errc::same_broker),
                 other.incarnation == self.incarnation
                     ? fmt::format("broker {} has reached itself", self.broker)
                     : fmt::format("two brokers have the id {}: give one another broker.id", self.broker)};
  }
  return std::nullopt;
}

std::string wrong_broker_words(model::broker_id wanted, model::broker_id found) {
  return fmt::format("broker {} was meant, and broker {} answers at its address", wanted, found);
}

}  // namespace

// ---- who opened the connection ----

opening_handshake::opening_handshake(identity self, model::broker_id wanted, const secrets& known,
                                     io::random_source& random)
    : self_(self), wanted_(wanted), secrets_(known) {
  protocol::peer_hello hello;
  hello.first_version = self.first_version;
  hello.last_version = self.last_version;
  hello.wanted_broker = wanted;
  hello.broker = self.broker;
  hello.incarnation = self.incarnation;
  hello.cluster_id = self.cluster_id;
  hello.newest_apply_level = self.newest_apply_level;
  hello.nonce = nonce_from(random);
  hello.keys = secrets_.names();
  hello_ = frame_of(frame_kind::hello, hello).freeze();
}

handshake_step opening_handshake::take(const bytes& frame) {
  BRAID_CHECK(state_ != state::over, "a frame after the end of the handshake");
  const auto kind = kind_of(frame);
  const state before = std::exchange(state_, state::over);
  if (before == state::awaits_answer && kind == frame_kind::answer) return take_answer(frame);
  const bool is_welcome = before == state::awaits_welcome && kind == frame_kind::welcome && is_bare(frame, 0);
  if (!is_welcome) return end_by(frame, kind);
  handshake_step last;
  last.done = met_;
  return last;
}

handshake_step opening_handshake::take_answer(const bytes& frame) {
  const auto answer = read<protocol::peer_answer>(frame, proof_bytes);
  if (!answer) return refuse(answer.error(), false);
  const bool is_sound = answer->nonce.size() == nonce_bytes && answer->version >= self_.first_version &&
                        answer->version <= self_.last_version && secrets_.has(answer->key);
  if (!is_sound) return refuse(errc::bad_frame, "the answer chose what was not offered", false);
  const byte_view said = frame.view().first(frame.size() - proof_bytes);
  const byte_view claimed = frame.view().last(proof_bytes);
  if (!secrets_.holds(answer->key, side::took, {hello_.view(), said}, claimed)) {
    return refuse(errc::bad_proof, "the answer does not prove that its sender knows the secret", false);
  }
  met_.version = answer->version;
  met_.other = {answer->broker,  answer->incarnation, answer->cluster_id, answer->newest_apply_level,
                answer->version, answer->version};
  if (answer->broker != wanted_) {
    return refuse(errc::wrong_broker, wrong_broker_words(wanted_, answer->broker), true);
  }
  if (auto why = objection(self_, met_.other)) return refuse(std::move(*why), true);
  state_ = state::awaits_welcome;
  handshake_step next;
  next.send = bare_frame(frame_kind::proof, secrets_.prove(answer->key, side::opened, {hello_.view(), frame.view()}));
  return next;
}

// ---- who took it ----

taking_handshake::taking_handshake(identity self, const secrets& known, io::random_source& random)
    : self_(self), secrets_(known), random_(random) {}

handshake_step taking_handshake::take(const bytes& frame) {
  BRAID_CHECK(state_ != state::over, "a frame after the end of the handshake");
  const auto kind = kind_of(frame);
  const state before = std::exchange(state_, state::over);
  if (before == state::awaits_hello && kind == frame_kind::hello) return take_hello(frame);
  if (before == state::awaits_proof && kind == frame_kind::proof) return take_proof(frame);
  return end_by(frame, kind);
}

handshake_step taking_handshake::take_hello(const bytes& frame) {
  const auto hello = read<protocol::peer_hello>(frame);
  if (!hello) return refuse(hello.error(), false);
  if (hello->nonce.size() != nonce_bytes) return refuse(errc::bad_frame, "a nonce has 32 bytes", false);
  const std::int16_t version = std::min(hello->last_version, self_.last_version);
  if (version < std::max(hello->first_version, self_.first_version)) {
    return refuse(errc::no_common_version,
                  fmt::format("it speaks {} to {}, this broker {} to {}", hello->first_version, hello->last_version,
                              self_.first_version, self_.last_version),
                  false);
  }
  const auto key = secrets_.common(hello->keys);
  if (!key) {
    return refuse(errc::no_common_secret, "braid.secret.file of the two brokers has no line in common", false);
  }
  hello_ = frame;
  key_ = *key;
  wanted_ = hello->wanted_broker;
  met_.version = version;
  met_.other = {hello->broker, hello->incarnation, hello->cluster_id, hello->newest_apply_level, version, version};

  protocol::peer_answer answer;
  answer.version = version;
  answer.broker = self_.broker;
  answer.incarnation = self_.incarnation;
  answer.cluster_id = self_.cluster_id;
  answer.newest_apply_level = self_.newest_apply_level;
  answer.nonce = nonce_from(random_);
  answer.key = key_;
  byte_buffer whole = frame_of(frame_kind::answer, answer);
  const proof made = secrets_.prove(key_, side::took, {hello_.view(), whole.view()});
  whole.append(byte_view(made));
  answer_ = whole.freeze();
  state_ = state::awaits_proof;
  handshake_step next;
  next.send = answer_;
  return next;
}

handshake_step taking_handshake::take_proof(const bytes& frame) {
  if (!is_bare(frame, proof_bytes)) return refuse(errc::bad_frame, "a proof has 32 bytes", false);
  const byte_view claimed = frame.view().subspan(head_bytes);
  if (!secrets_.holds(key_, side::opened, {hello_.view(), answer_.view()}, claimed)) {
    return refuse(errc::bad_proof, "the proof does not show that its sender knows the secret", false);
  }
  if (wanted_ != self_.broker) return refuse(errc::wrong_broker, wrong_broker_words(wanted_, self_.broker), true);
  if (auto why = objection(self_, met_.other)) return refuse(std::move(*why), true);
  handshake_step last;
  last.send = bare_frame(frame_kind::welcome);
  last.done = met_;
  return last;
}

}  // namespace braidmq::peer
