#include "world/plants.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "base/endian.hpp"
#include "braid/entry.hpp"
#include "metadata/command.hpp"
#include "model/record_batch.hpp"
#include "protocol/generated/fetch.hpp"
#include "protocol/generated/produce.hpp"
#include "protocol/message.hpp"

namespace braidmq::sim {
namespace {

constexpr std::array<std::pair<std::string_view, plant>, 22> names{{
    {"none", plant::none},
    {"skip-fsync", plant::skip_fsync},
    {"lost-dirsync", plant::lost_dirsync},
    {"early-ack", plant::early_ack},
    {"forget-sequences", plant::forget_sequences},
    {"torn-visibility", plant::torn_visibility},
    {"visible-too-far", plant::visible_too_far},
    {"secret-ends", plant::secret_ends},
    {"forget-log-starts", plant::forget_log_starts},
    {"forget-deletions", plant::forget_deletions},
    {"unsynced-segments", plant::unsynced_segments},
    {"unsynced-checkpoint", plant::unsynced_checkpoint},
    {"checkpoint-ahead", plant::checkpoint_ahead},
    {"early-unlink", plant::early_unlink},
    {"early-release", plant::early_release},
    {"early-expiry", plant::early_expiry},
    {"half-atomic", plant::half_atomic},
    {"early-vote", plant::early_vote},
    {"old-terms-counted", plant::old_terms_counted},
    {"serves-early", plant::serves_early},
    {"commit-ahead", plant::commit_ahead},
    {"wrong-term-answer", plant::wrong_term_answer},
}};

// Says durable at once, and writes behind.
class early_ack_log final : public wal::log {
 public:
  early_ack_log(std::unique_ptr<wal::log> target, io::executor& owner) : target_(std::move(target)), owner_(owner) {}

  const std::vector<wal::recovered_group>& recovered() const override { return target_->recovered(); }

  void append(wal::append_item item, unique_function<void(status)> durable) override {
    target_->append(std::move(item), [](const status&) {});
    owner_.post([alive = std::weak_ptr(alive_), durable = std::move(durable)]() mutable {
      if (!alive.expired()) durable({});
    });
  }

  void read(raft::group_id group, raft::index from, std::size_t max_bytes,
            unique_function<void(result<std::vector<raft::entry>>)> done) override {
    target_->read(group, from, max_bytes, std::move(done));
  }

  void release(raft::group_id group, raft::index from) override { target_->release(group, from); }

  wal::stats statistics() const override { return target_->statistics(); }

 private:
  std::unique_ptr<wal::log> target_;
  io::executor& owner_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// Lets go of more than it was told to.
class early_release_log final : public wal::log {
 public:
  explicit early_release_log(std::unique_ptr<wal::log> target) : target_(std::move(target)) {}

  const std::vector<wal::recovered_group>& recovered() const override { return target_->recovered(); }

  void append(wal::append_item item, unique_function<void(status)> durable) override {
    target_->append(std::move(item), std::move(durable));
  }

  void read(raft::group_id group, raft::index from, std::size_t max_bytes,
            unique_function<void(result<std::vector<raft::entry>>)> done) override {
    target_->read(group, from, max_bytes, std::move(done));
  }

  void release(raft::group_id group, raft::index from) override { target_->release(group, from + 16); }

  wal::stats statistics() const override { return target_->statistics(); }

 private:
  std::unique_ptr<wal::log> target_;
};

// Reads the log back changed.
class changed_entries_log final : public wal::log {
 public:
  using change = void (*)(raft::entry&);
  changed_entries_log(std::unique_ptr<wal::log> target, change what) : target_(std::move(target)), change_(what) {}

  const std::vector<wal::recovered_group>& recovered() const override { return target_->recovered(); }

  void append(wal::append_item item, unique_function<void(status)> durable) override {
    target_->append(std::move(item), std::move(durable));
  }

  void read(raft::group_id group, raft::index from, std::size_t max_bytes,
            unique_function<void(result<std::vector<raft::entry>>)> done) override {
    target_->read(group, from, max_bytes,
                  [what = change_, done = std::move(done)](result<std::vector<raft::entry>> entries) mutable {
                    if (entries) std::ranges::for_each(*entries, what);
                    done(std::move(entries));
                  });
  }

  void release(raft::group_id group, raft::index from) override { target_->release(group, from); }

  wal::stats statistics() const override { return target_->statistics(); }

 private:
  std::unique_ptr<wal::log> target_;
  change change_;
};

// Of the metadata log.
void forget_deletion(raft::entry& entry) {
  if (entry.kind != raft::entry_kind::command) return;
  const auto command = metadata::decode(entry.payload);
  if (!command || !std::holds_alternative<metadata::delete_topic>(*command)) return;
  entry.kind = raft::entry_kind::noop;
  entry.payload = {};
}

// Of the braid's log.
void forget_log_starts(raft::entry& entry) {
  if (entry.kind != raft::entry_kind::command) return;
  auto command = braid::decode(entry.payload);
  if (!command || command->log_starts.empty()) return;
  command->log_starts.clear();
  entry.payload = braid::encode(*command);
}

std::int16_t key_of(byte_view frame) {
  return frame.size() < 8 ? -1 : load_be<std::int16_t>(frame.data());
}

// What is answered, changed by `change(Response&)`, however the answer lies in parts.
template <class Response, class Change>
void change_answer(result<net::answer>& answered, std::int16_t version, Change change) {
  if (!answered || !*answered) return;
  const std::vector<bytes>& parts = **answered;
  const std::vector<byte_view> views(parts.begin(), parts.end());
  auto frame = protocol::decode_response_frame(bytes::joined(views), *protocol::find_api(Response::api_key), version);
  BRAID_CHECK(frame.has_value(), "an answer cannot be read: {}", frame.error().to_string());
  auto response = Response::decode(frame->body, version);
  BRAID_CHECK(response.has_value(), "an answer cannot be read: {}", response.error().to_string());
  change(*response);
  byte_buffer buffer;
  const status written = protocol::encode_response_frame(buffer, *response, version, frame->correlation_id);
  BRAID_CHECK(written.has_value(), "a changed answer cannot be written: {}", written.error().to_string());
  answered = net::answer(std::vector<bytes>{buffer.freeze().slice(sizeof(std::int32_t))});
}

// Takes producer and sequence out of every batch, so that a repetition is written again.
class forget_sequences_filter final : public net::frame_handler {
 public:
  explicit forget_sequences_filter(net::frame_handler& target) : target_(target) {}

  void handle(const std::shared_ptr<net::connection_info>& connection, bytes frame, unique_function<void()> accepted,
              unique_function<void(result<net::answer>)> respond) override {
    if (key_of(frame) == protocol::produce_request::api_key) frame = without_producer(frame);
    target_.handle(connection, std::move(frame), std::move(accepted), std::move(respond));
  }

 private:
  static bytes without_producer(const bytes& frame) {
    auto decoded = protocol::decode_request_frame(frame);
    if (!decoded) return frame;
    const std::int16_t version = decoded->header.request_api_version;
    auto request = protocol::produce_request::decode(decoded->body, version);
    if (!request) return frame;
    for (auto& topic : request->topic_data) {
      for (auto& partition : topic.partition_data) {
        if (partition.records) partition.records = anonymous(*partition.records);
      }
    }
    byte_buffer buffer;
    const status encoded = protocol::encode_request_frame(buffer, *request, version, decoded->header.correlation_id,
                                                          decoded->header.client_id);
    return encoded ? buffer.freeze().slice(4) : frame;
  }

  static bytes anonymous(const bytes& batch) {
    if (batch.size() < model::batch_layout::header_bytes) return batch;
    byte_buffer copy;
    copy.append(batch.view());
    copy.put_be(model::batch_layout::producer_id, std::int64_t{-1});
    copy.put_be(model::batch_layout::producer_epoch, std::int16_t{-1});
    copy.put_be(model::batch_layout::base_sequence, std::int32_t{-1});
    copy.put_be(model::batch_layout::crc, model::compute_batch_crc(copy.view()));
    return copy.freeze();
  }

  net::frame_handler& target_;
};

// Asks for an ordinary write where an atomic one was asked for, and answers as if the refused ones had been refused
// whole: apply that stops at the culprit and keeps what it had done.
class half_atomic_filter final : public net::frame_handler {
 public:
  explicit half_atomic_filter(net::frame_handler& target) : target_(target) {}

  void handle(const std::shared_ptr<net::connection_info>& connection, bytes frame, unique_function<void()> accepted,
              unique_function<void(result<net::answer>)> respond) override {
    if (key_of(frame) == protocol::produce_request::api_key && make_ordinary(frame)) {
      const auto version = load_be<std::int16_t>(frame.data() + 2);
      respond = [version, respond = std::move(respond)](result<net::answer> answer) mutable {
        change_answer<protocol::produce_response>(answer, version, &deny);
        respond(std::move(answer));
      };
    }
    target_.handle(connection, std::move(frame), std::move(accepted), std::move(respond));
  }

 private:
  static bool make_ordinary(bytes& frame) {
    auto decoded = protocol::decode_request_frame(frame);
    if (!decoded) return false;
    const std::int16_t version = decoded->header.request_api_version;
    auto request = protocol::produce_request::decode(decoded->body, version);
    if (!request || !request->atomic) return false;
    request->atomic = false;
    byte_buffer buffer;
    const status encoded = protocol::encode_request_frame(buffer, *request, version, decoded->header.correlation_id,
                                                          decoded->header.client_id);
    if (!encoded) return false;
    frame = buffer.freeze().slice(4);
    return true;
  }

  static void deny(protocol::produce_response& response) {
    bool refused = false;
    for (const auto& topic : response.responses) {
      for (const auto& one : topic.partition_responses)
        refused = refused || one.error_code != protocol::error_code::none;
    }
    if (!refused) return;
    for (auto& topic : response.responses) {
      for (auto& one : topic.partition_responses) one.error_code = protocol::error_code::operation_not_attempted;
    }
  }

  net::frame_handler& target_;
};

using fetch_change = void (*)(protocol::fetch_response& answer, bool in_session);

// Answers of fetches come changed.
class fetch_filter final : public net::frame_handler {
 public:
  fetch_filter(net::frame_handler& target, fetch_change change) : target_(target), change_(change) {}

  void handle(const std::shared_ptr<net::connection_info>& connection, bytes frame, unique_function<void()> accepted,
              unique_function<void(result<net::answer>)> respond) override {
    if (key_of(frame) == protocol::fetch_response::api_key) {
      const auto version = load_be<std::int16_t>(frame.data() + 2);
      respond = [version, change = change_, in_session = goes_on(frame),
                 respond = std::move(respond)](result<net::answer> answer) mutable {
        change_answer<protocol::fetch_response>(
            answer, version, [&](protocol::fetch_response& response) { change(response, in_session); });
        respond(std::move(answer));
      };
    }
    target_.handle(connection, std::move(frame), std::move(accepted), std::move(respond));
  }

 private:
  static bool goes_on(const bytes& frame) {
    const auto decoded = protocol::decode_request_frame(frame);
    if (!decoded) return false;
    const auto request = protocol::fetch_request::decode(decoded->body, decoded->header.request_api_version);
    return request && request->session_epoch > 0;
  }

  net::frame_handler& target_;
  fetch_change change_;
};

// The last partition with records in a fetch answer ends one batch too early.
void tear(protocol::fetch_response& response, bool /*in_session*/) {
  if (response.responses.empty() || response.responses.back().partitions.empty()) return;
  auto& last = response.responses.back().partitions.back();
  if (!last.records || last.records->empty()) return;
  model::batch_reader reader(*last.records);
  std::size_t begin_of_last = 0;
  std::optional<model::offset> base;
  for (std::size_t at = 0;; at = reader.position()) {
    const auto batch = reader.next();
    if (!batch || !*batch) break;
    begin_of_last = at;
    base = (*batch)->header.base_offset;
  }
  if (!base) return;
  last.records = last.records->slice(0, begin_of_last);
  last.high_watermark = *base;
}

// The end of each partition that gives records is one too large.
void show_too_far(protocol::fetch_response& response, bool /*in_session*/) {
  for (auto& topic : response.responses) {
    for (auto& one : topic.partitions) {
      if (one.records && !one.records->empty()) one.high_watermark = one.high_watermark + 1;
    }
  }
}

// Only partitions that give records count as news of a session.
void keep_ends_secret(protocol::fetch_response& response, bool in_session) {
  if (!in_session) return;
  for (auto& topic : response.responses) {
    std::erase_if(topic.partitions, [](const auto& one) {
      return one.error_code == protocol::error_code::none && (!one.records || one.records->empty());
    });
  }
}

}  // namespace

std::optional<plant> parse_plant(std::string_view name) {
  for (const auto& [known, which] : names) {
    if (known == name) return which;
  }
  return std::nullopt;
}

std::span<const std::pair<std::string_view, plant>> named_plants() {
  return names;
}

bool needs_peers(plant which) {
  return which >= plant::early_vote;
}

std::string plant_names() {
  std::string all;
  for (const auto& [name, which] : names) all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

wal_wrapper wal_plant(plant which, io::executor& owner) {
  if (which == plant::early_release) {
    return [](std::unique_ptr<wal::log> target) { return std::make_unique<early_release_log>(std::move(target)); };
  }
  if (which == plant::forget_log_starts) {
    return [](std::unique_ptr<wal::log> target) {
      return std::make_unique<changed_entries_log>(std::move(target), &forget_log_starts);
    };
  }
  if (which == plant::early_vote) return [&owner](auto target) { return early_vote_plant(std::move(target), owner); };
  if (which != plant::early_ack) return nullptr;
  return
      [&owner](std::unique_ptr<wal::log> target) { return std::make_unique<early_ack_log>(std::move(target), owner); };
}

wal_wrapper metadata_wal_plant(plant which, io::executor& owner) {
  if (which == plant::early_vote) return wal_plant(which, owner);
  if (which != plant::forget_deletions) return nullptr;
  return [](std::unique_ptr<wal::log> target) {
    return std::make_unique<changed_entries_log>(std::move(target), &forget_deletion);
  };
}

std::unique_ptr<net::frame_handler> frame_plant(plant which, net::frame_handler& target) {
  if (which == plant::forget_sequences) return std::make_unique<forget_sequences_filter>(target);
  if (which == plant::half_atomic) return std::make_unique<half_atomic_filter>(target);
  if (which == plant::torn_visibility) return std::make_unique<fetch_filter>(target, &tear);
  if (which == plant::visible_too_far) return std::make_unique<fetch_filter>(target, &show_too_far);
  if (which == plant::secret_ends) return std::make_unique<fetch_filter>(target, &keep_ends_secret);
  return nullptr;
}

}  // namespace braidmq::sim
