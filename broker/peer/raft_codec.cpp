#include "peer/raft_codec.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "base/endian.hpp"
#include "peer/frame.hpp"
#include "protocol/generated/peer_raft.hpp"

namespace braidmq::peer {
namespace {

std::int64_t wire(raft::index value) {
  return static_cast<std::int64_t>(value.value());
}
std::int64_t wire(raft::term value) {
  return static_cast<std::int64_t>(value.value());
}
std::int64_t wire(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

// Rounds and ids may be any number; terms and indexes are none below zero.
std::uint64_t any_number(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

class number_reader {
 public:
  raft::index index(std::int64_t value) {
    note(value);
    return raft::index(static_cast<std::uint64_t>(value));
  }
  raft::term term(std::int64_t value) {
    note(value);
    return raft::term(static_cast<std::uint64_t>(value));
  }
  raft::entry_kind kind(std::int8_t value) {
    const auto kind = static_cast<raft::entry_kind>(value);
    good_ = good_ && (kind == raft::entry_kind::noop || kind == raft::entry_kind::command);
    return kind;
  }
  bool good() const { return good_; }

 private:
  void note(std::int64_t value) { good_ = good_ && value >= 0; }
  bool good_ = true;
};

// Each kind of message: its record, there and back.
struct vote_request_form {
  using record = protocol::raft_vote_request;
  static constexpr frame_kind kind = frame_kind::vote_request;
  static void write(record& to, const raft::vote_request& from) {
    to.pre = from.pre;
    to.transfer = from.transfer;
    to.last_index = wire(from.last_index);
    to.last_term = wire(from.last_term);
  }
  static raft::vote_request read(record& from, number_reader& numbers) {
    return {from.pre, from.transfer, numbers.index(from.last_index), numbers.term(from.last_term)};
  }
};

struct vote_response_form {
  using record = protocol::raft_vote_response;
  static constexpr frame_kind kind = frame_kind::vote_response;
  static void write(record& to, const raft::vote_response& from) {
    to.pre = from.pre;
    to.granted = from.granted;
    to.asked = wire(from.asked);
  }
  static raft::vote_response read(record& from, number_reader& numbers) {
    return {from.pre, from.granted, numbers.term(from.asked)};
  }
};

struct append_request_form {
  using record = protocol::raft_append_request;
  static constexpr frame_kind kind = frame_kind::append_request;
  static void write(record& to, const raft::append_request& from) {
    to.prev_index = wire(from.prev_index);
    to.prev_term = wire(from.prev_term);
    to.commit = wire(from.commit);
    to.entries.reserve(from.entries.size());
    raft::index next = from.prev_index;
    for (const raft::entry& one : from.entries) {
      BRAID_CHECK(one.index == ++next, "entry {} in the place of {}", one.index, next);
      to.entries.push_back({wire(one.term), static_cast<std::int8_t>(one.kind), one.payload});
    }
  }
  static raft::append_request read(record& from, number_reader& numbers) {
    raft::append_request made;
    made.prev_index = numbers.index(from.prev_index);
    made.prev_term = numbers.term(from.prev_term);
    made.commit = numbers.index(from.commit);
    made.entries.reserve(from.entries.size());
    raft::index next = made.prev_index;
    for (auto& one : from.entries) {
      made.entries.push_back({numbers.term(one.term), ++next, numbers.kind(one.kind), std::move(one.payload)});
    }
    return made;
  }
};

struct append_response_form {
  using record = protocol::raft_append_response;
  static constexpr frame_kind kind = frame_kind::append_response;
  static void write(record& to, const raft::append_response& from) {
    to.rejected = from.rejected;
    to.index = wire(from.index);
    to.hint_index = wire(from.hint_index);
    to.hint_term = wire(from.hint_term);
  }
  static raft::append_response read(record& from, number_reader& numbers) {
    return {from.rejected, numbers.index(from.index), numbers.index(from.hint_index), numbers.term(from.hint_term)};
  }
};

struct heartbeat_form {
  using record = protocol::raft_heartbeat;
  static constexpr frame_kind kind = frame_kind::heartbeat;
  static void write(record& to, const raft::heartbeat& from) {
    to.commit = wire(from.commit);
    to.round = wire(from.round);
  }
  static raft::heartbeat read(record& from, number_reader& numbers) {
    return {numbers.index(from.commit), any_number(from.round)};
  }
};

struct heartbeat_response_form {
  using record = protocol::raft_heartbeat_response;
  static constexpr frame_kind kind = frame_kind::heartbeat_response;
  static void write(record& to, const raft::heartbeat_response& from) { to.round = wire(from.round); }
  static raft::heartbeat_response read(record& from, number_reader&) { return {any_number(from.round)}; }
};

struct commit_notice_form {
  using record = protocol::raft_commit_notice;
  static constexpr frame_kind kind = frame_kind::commit_notice;
  static void write(record& to, const raft::commit_notice& from) { to.commit = wire(from.commit); }
  static raft::commit_notice read(record& from, number_reader& numbers) { return {numbers.index(from.commit)}; }
};

struct read_index_request_form {
  using record = protocol::raft_read_index_request;
  static constexpr frame_kind kind = frame_kind::read_index_request;
  static void write(record& to, const raft::read_index_request& from) { to.id = wire(from.id); }
  static raft::read_index_request read(record& from, number_reader&) { return {any_number(from.id)}; }
};

struct read_index_response_form {
  using record = protocol::raft_read_index_response;
  static constexpr frame_kind kind = frame_kind::read_index_response;
  static void write(record& to, const raft::read_index_response& from) {
    to.id = wire(from.id);
    to.refused = from.refused;
    to.index = wire(from.index);
  }
  static raft::read_index_response read(record& from, number_reader& numbers) {
    return {any_number(from.id), from.refused, numbers.index(from.index)};
  }
};

struct timeout_now_form {
  using record = protocol::raft_timeout_now;
  static constexpr frame_kind kind = frame_kind::timeout_now;
  static void write(record&, const raft::timeout_now&) {}
  static raft::timeout_now read(record&, number_reader&) { return {}; }
};

template <class Form, class Body>
bytes encode_as(raft::group_id group, const raft::message& message, const Body& body, std::size_t size) {
  typename Form::record record;
  record.group = group.value();
  record.term = wire(message.term);
  Form::write(record, body);
  return frame_of(Form::kind, record, size);
}

template <class Form>
result<group_message> decode_as(const bytes& frame, const raft::node_id& from, const raft::node_id& to) {
  BRAID_TRY(record, record_in<typename Form::record>(frame));
  number_reader numbers;
  group_message read{raft::group_id(record.group), {from, to, numbers.term(record.term), {}}};
  read.message.body = Form::read(record, numbers);
  if (!numbers.good()) return fail(errc::bad_frame, "a term or an index below zero, or an entry of an unknown kind");
  return read;
}

template <class... Forms>
struct forms {
  static result<group_message> decode(frame_kind kind, const bytes& frame, const raft::node_id& from,
                                      const raft::node_id& to) {
    result<group_message> read = fail(errc::bad_frame, fmt::format("a frame of kind {}", static_cast<int>(kind)));
    static_cast<void>(((kind == Forms::kind && (read = decode_as<Forms>(frame, from, to), true)) || ...));
    return read;
  }
};

using all_forms = forms<vote_request_form, vote_response_form, append_request_form, append_response_form,
                        heartbeat_form, heartbeat_response_form, commit_notice_form, read_index_request_form,
                        read_index_response_form, timeout_now_form>;

struct encoder {
  raft::group_id group;
  const raft::message& of;

  template <class Form, class Body>
  bytes as(const Body& body, std::size_t size = message_overhead_bytes) const {
    return encode_as<Form>(group, of, body, size);
  }
  bytes operator()(const raft::vote_request& body) const { return as<vote_request_form>(body); }
  bytes operator()(const raft::vote_response& body) const { return as<vote_response_form>(body); }
  bytes operator()(const raft::append_request& body) const {
    std::size_t size = message_overhead_bytes;
    for (const raft::entry& one : body.entries) size += entry_overhead_bytes + one.payload.size();
    return as<append_request_form>(body, size);
  }
  bytes operator()(const raft::append_response& body) const { return as<append_response_form>(body); }
  bytes operator()(const raft::heartbeat& body) const { return as<heartbeat_form>(body); }
  bytes operator()(const raft::heartbeat_response& body) const { return as<heartbeat_response_form>(body); }
  bytes operator()(const raft::commit_notice& body) const { return as<commit_notice_form>(body); }
  bytes operator()(const raft::read_index_request& body) const { return as<read_index_request_form>(body); }
  bytes operator()(const raft::read_index_response& body) const { return as<read_index_response_form>(body); }
  bytes operator()(const raft::timeout_now& body) const { return as<timeout_now_form>(body); }
};

}  // namespace

bytes encode(raft::group_id group, const raft::message& message) {
  return std::visit(encoder{group, message}, message.body);
}

result<group_message> decode(const bytes& frame, const raft::node_id& from, const raft::node_id& to) {
  if (frame.size() < head_bytes) return fail(errc::bad_frame, "it is cut off");
  return all_forms::decode(static_cast<frame_kind>(load_be<std::int16_t>(frame.data())), frame, from, to);
}

}  // namespace braidmq::peer
