#include "braid/checkpoint.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/endian.hpp"
#include "multiraft/checkpoint_records.hpp"
#include "protocol/generated/braid_checkpoint.hpp"
#include "storage/format.hpp"

namespace braidmq::braid {
namespace {

// Kinds of frames. Each begins with the version of its record.
constexpr std::uint8_t state_frame = 1;
constexpr std::uint8_t topics_frame = 2;
constexpr std::uint8_t partition_frame = 3;
constexpr std::uint8_t producers_frame = 4;

constexpr std::size_t topics_per_frame = 64;
constexpr std::size_t producers_per_frame = 256;

uuid to_uuid(const hash128& hash) {
  uuid id;
  auto* octets = reinterpret_cast<std::byte*>(id.octets.data());
  store_be(octets, hash.high);
  store_be(octets + 8, hash.low);
  return id;
}

hash128 to_hash(const uuid& id) {
  const auto* octets = reinterpret_cast<const std::byte*>(id.octets.data());
  return {load_be<std::uint64_t>(octets), load_be<std::uint64_t>(octets + 8)};
}

protocol::braid_checkpoint_partition to_record(const pinned_partition& from) {
  protocol::braid_checkpoint_partition record;
  record.topic_id = from.id.topic;
  record.partition = from.id.partition;
  record.epoch_base = from.rows.epoch_base;
  record.bytes_hash = to_uuid(from.rows.bytes_hash);
  record.log_start = from.log.manifest.start;
  record.log_end = from.log.manifest.end;
  for (const auto& run : from.log.manifest.epochs.all()) record.epochs.push_back({run.first, run.epoch});
  record.segments.reserve(from.log.manifest.segments.size());
  for (const storage::segment_manifest& one : from.log.manifest.segments) {
    record.segments.push_back({one.base, one.end, static_cast<std::int64_t>(one.size_bytes), one.first_timestamp_ms,
                               one.max_timestamp_ms, static_cast<std::int64_t>(one.largest_batch_bytes),
                               static_cast<std::int64_t>(one.bytes_since_index_entry),
                               static_cast<std::int32_t>(one.index_entries), one.offset_index_crc, one.time_index_crc});
  }
  return record;
}

status add_producers(multiraft::checkpoint_writer& to, const partition::producer_table::rows& rows) {
  status written;
  protocol::braid_checkpoint_producers record;
  const auto flush = [&] {
    if (written && !record.producers.empty()) written = multiraft::add_record(to, producers_frame, record);
    record.producers.clear();
  };
  rows.for_each([&](model::producer_id id, const partition::producer_state& state) {
    auto& row = record.producers.emplace_back();
    row.producer_id = id;
    row.epoch = state.epoch;
    row.last_entry_ms = state.last_entry_ms;
    for (std::uint32_t i = 0; i < state.count; ++i) {
      const partition::batch_memory& batch = state.batches[i];
      row.batches.push_back({batch.first, batch.last, batch.base, batch.timestamp_ms});
    }
    if (record.producers.size() == producers_per_frame) flush();
  });
  flush();
  return written;
}

status add_topics(multiraft::checkpoint_writer& to, const topic_rows& topics) {
  status written;
  protocol::braid_checkpoint_topics record;
  const auto flush = [&] {
    if (written && !record.topics.empty()) written = multiraft::add_record(to, topics_frame, record);
    record.topics.clear();
  };
  topics.for_each([&](const model::topic_id& id, const topic_state& state) {
    auto& row = record.topics.emplace_back();
    row.topic_id = id;
    row.config_index = static_cast<std::int64_t>(state.config_index);
    for (const auto& [name, value] : state.configs) row.configs.push_back({name, value});
    if (record.topics.size() == topics_per_frame) flush();
  });
  flush();
  return written;
}

class pinned_machine final : public multiraft::pinned_state {
 public:
  explicit pinned_machine(machine& from) : state_(from.pin()), written_(std::make_shared<countdown>()) {
    // At once: a partition that is deleted later keeps its files and its writes until the next checkpoint.
    for (const auto& [id, one] : from.partitions()) {
      if (one->log().pending_bytes() == 0) continue;
      ++written_->left;
      one->log().drain([shared = written_](const status& drained) {
        if (!drained && shared->outcome) shared->outcome = drained;
        --shared->left;
        shared->tell();
      });
    }
  }

  raft::index index() const override { return state_.applied; }

  void when_written(unique_function<void(status)> done) override {
    written_->done = std::move(done);
    written_->tell();
  }

  std::vector<unique_function<status()>> take_syncs() override {
    std::vector<unique_function<status()>> all;
    for (pinned_partition& one : state_.partitions) {
      for (auto& sync : std::exchange(one.log.syncs, {})) all.push_back(std::move(sync));
    }
    return all;
  }

  status write(multiraft::checkpoint_writer& to) const override {
    protocol::braid_checkpoint_state head;
    head.last_entry_time_ms = state_.last_entry_time_ms;
    head.last_deletion_index = static_cast<std::int64_t>(state_.last_deletion_index);
    head.apply_level = state_.level;
    head.state_hash = to_uuid(state_.hash);
    head.topic_count = static_cast<std::int64_t>(state_.topics.size());
    head.partition_count = static_cast<std::int64_t>(state_.partitions.size());
    BRAID_TRY_VOID(multiraft::add_record(to, state_frame, head));
    BRAID_TRY_VOID(add_topics(to, state_.topics));
    for (const pinned_partition& one : state_.partitions) {
      BRAID_TRY_VOID(multiraft::add_record(to, partition_frame, to_record(one)));
      BRAID_TRY_VOID(add_producers(to, one.rows.producers));
    }
    return {};
  }

 private:
  struct countdown {
    std::size_t left = 0;
    status outcome;
    unique_function<void(status)> done;

    void tell() {
      if (left == 0 && done) std::exchange(done, nullptr)(outcome);
    }
  };

  machine_state state_;
  std::shared_ptr<countdown> written_;
};

// Puts frames together again; each says by `problem` what cannot be.
class builder {
 public:
  builder(raft::index applied, std::int16_t newest_level) : newest_level_(newest_level) { state_.applied = applied; }

  result<std::string> add(const multiraft::record_frame& frame) {
    const auto taken = [this](const auto& record) { return take(record); };
    if (frame.kind == state_frame) return frame.as<protocol::braid_checkpoint_state>(taken);
    if (frame.kind == topics_frame) return frame.as<protocol::braid_checkpoint_topics>(taken);
    if (frame.kind == partition_frame) return frame.as<protocol::braid_checkpoint_partition>(taken);
    if (frame.kind == producers_frame) return frame.as<protocol::braid_checkpoint_producers>(taken);
    return frame.unknown();
  }

  result<machine_state> finish(const multiraft::checkpoint_reader& from) {
    if (!has_head_ || head_.topic_count != static_cast<std::int64_t>(state_.topics.size()) ||
        head_.partition_count != static_cast<std::int64_t>(state_.partitions.size())) {
      return from.damaged("it lacks topics or partitions");
    }
    return std::move(state_);
  }

 private:
  // What comes after it may be in no form that is known here: the level is looked at first.
  result<std::string> take(const protocol::braid_checkpoint_state& record) {
    if (std::exchange(has_head_, true)) return "it has two heads";
    if (record.apply_level > newest_level_) {
      return fail(multiraft::errc::checkpoint_format,
                  fmt::format("it has apply level {}, this version knows {}", record.apply_level, newest_level_));
    }
    if (record.apply_level < 0) return fmt::format("it has apply level {}", record.apply_level);
    state_.level = record.apply_level;
    head_ = record;
    state_.last_entry_time_ms = record.last_entry_time_ms;
    state_.last_deletion_index = static_cast<std::uint64_t>(record.last_deletion_index);
    state_.hash = to_hash(record.state_hash);
    return std::string();
  }

  std::string take(const protocol::braid_checkpoint_topics& record) {
    for (const auto& row : record.topics) {
      if (state_.topics.find(row.topic_id) != nullptr) return fmt::format("topic {} is there twice", row.topic_id);
      topic_state& topic = state_.topics.edit(row.topic_id);
      topic.config_index = static_cast<std::uint64_t>(row.config_index);
      for (const auto& one : row.configs) topic.configs.emplace(one.name, one.value);
    }
    return {};
  }

  std::string take(const protocol::braid_checkpoint_partition& record) {
    pinned_partition one;
    one.id = {record.topic_id, record.partition};
    if (!state_.partitions.empty() && one.id <= state_.partitions.back().id) return "partitions are out of order";
    one.rows.epoch_base = record.epoch_base;
    one.rows.bytes_hash = to_hash(record.bytes_hash);
    storage::log_manifest& log = one.log.manifest;
    log.start = record.log_start;
    log.end = record.log_end;
    model::offset epochs_from{-1};
    for (const auto& run : record.epochs) {
      if (run.first <= epochs_from) return fmt::format("epochs of {} are out of order", one.id);
      epochs_from = run.first;
      log.epochs.append(run.first, run.epoch);
    }
    model::offset end = record.segments.empty() ? log.end : record.segments.front().base;
    for (const auto& segment : record.segments) {
      const bool is_sound = segment.base == end && segment.end > segment.base && segment.size_bytes > 0 &&
                            segment.size_bytes <= static_cast<std::int64_t>(storage::max_segment_bytes) &&
                            segment.largest_batch_bytes > 0 && segment.largest_batch_bytes <= segment.size_bytes &&
                            segment.bytes_since_index_entry >= 0 && segment.index_entries >= 0;
      if (!is_sound) return fmt::format("segment {} of {} cannot be", segment.base, one.id);
      end = segment.end;
      log.segments.push_back(
          {segment.base, segment.end, static_cast<std::uint64_t>(segment.size_bytes), segment.first_timestamp_ms,
           segment.max_timestamp_ms, static_cast<std::uint64_t>(segment.largest_batch_bytes),
           static_cast<std::uint64_t>(segment.bytes_since_index_entry),
           static_cast<std::uint32_t>(segment.index_entries), segment.offset_index_crc, segment.time_index_crc});
    }
    const bool has_start =
        record.segments.empty() ? log.start == log.end : log.start >= log.segments.front().base && log.start <= log.end;
    const bool has_epochs = record.segments.empty() || !record.epochs.empty();
    if (end != log.end || !has_start || !has_epochs) return fmt::format("the log of {} cannot be", one.id);
    state_.partitions.push_back(std::move(one));
    return {};
  }

  std::string take(const protocol::braid_checkpoint_producers& record) {
    if (state_.partitions.empty()) return "producers come before their partition";
    auto& rows = state_.partitions.back().rows.producers;
    for (const auto& row : record.producers) {
      partition::producer_state state;
      if (row.batches.empty() || row.batches.size() > state.batches.size() || rows.find(row.producer_id) != nullptr) {
        return fmt::format("producer {} cannot be", row.producer_id);
      }
      state.epoch = row.epoch;
      state.last_entry_ms = row.last_entry_ms;
      for (const auto& batch : row.batches) {
        state.batches[state.count++] = {batch.first, batch.last, batch.base, batch.timestamp_ms};
      }
      rows.edit(row.producer_id) = state;
    }
    return {};
  }

  const std::int16_t newest_level_;
  protocol::braid_checkpoint_state head_;
  bool has_head_ = false;
  machine_state state_;
};

}  // namespace

std::unique_ptr<multiraft::pinned_state> pin_for_checkpoint(machine& from) {
  return std::make_unique<pinned_machine>(from);
}

result<std::optional<machine_state>> read_checkpoint(io::file_system& fs, const std::string& path, raft::group_id group,
                                                     std::int16_t newest_level) {
  BRAID_TRY(reader, multiraft::checkpoint_reader::open(fs, path, group));
  if (!reader) return std::optional<machine_state>();
  builder built(reader->id().index, newest_level);
  BRAID_TRY_VOID(
      multiraft::read_records(*reader, [&built](const multiraft::record_frame& frame) { return built.add(frame); }));
  BRAID_TRY(state, built.finish(*reader));
  state.applied_term = reader->id().term;
  return std::optional(std::move(state));
}

}  // namespace braidmq::braid
