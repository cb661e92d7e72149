#include "metadata/command.hpp"

#include "base/check.hpp"
#include "base/endian.hpp"
#include "protocol/generated/metadata_records.hpp"

namespace braidmq::metadata {
namespace {

// Numbers on disk: never given twice.
enum class kind : std::int16_t {
  found_cluster = 1,
  register_broker = 2,
  create_topic = 3,
  allocate_producer_ids = 4,
  alter_topic = 5,
  delete_topic = 6,
  forget_deletions = 7,
};

constexpr std::size_t prefix_bytes = 2 * sizeof(std::int16_t);

template <class Record>
bytes framed(kind what, const Record& record) {
  byte_buffer buffer;
  buffer.append_be(static_cast<std::int16_t>(what));
  buffer.append_be(Record::max_version);
  const status written = record.encode(buffer, Record::max_version);
  BRAID_CHECK(written.has_value(), "metadata command cannot be written: {}", written.error().to_string());
  return buffer.freeze();
}

bytes to_bytes(const found_cluster& command) {
  protocol::metadata_found_cluster record;
  record.cluster_id = command.cluster_id;
  return framed(kind::found_cluster, record);
}

bytes to_bytes(const register_broker& command) {
  protocol::metadata_register_broker record;
  record.broker_id = command.broker;
  record.incarnation = command.registration.incarnation;
  record.draining = command.registration.draining;
  for (const auto& [name, host, port] : command.registration.listeners) record.listeners.push_back({name, host, port});
  record.rack = command.registration.rack;
  return framed(kind::register_broker, record);
}

bytes to_bytes(const create_topic& command) {
  protocol::metadata_create_topic record;
  record.topic_name = command.name;
  record.topic_id = command.id;
  record.partitions = command.partitions;
  for (const auto& [name, value] : command.configs) record.configs.push_back({name, value});
  return framed(kind::create_topic, record);
}

bytes to_bytes(const allocate_producer_ids& command) {
  protocol::metadata_allocate_producer_ids record;
  record.broker_id = command.broker;
  return framed(kind::allocate_producer_ids, record);
}

bytes to_bytes(const alter_topic& command) {
  protocol::metadata_alter_topic record;
  record.topic_id = command.id;
  record.partitions = command.partitions;
  for (const auto& [name, value] : command.configs) record.configs.push_back({name, value});
  return framed(kind::alter_topic, record);
}

bytes to_bytes(const delete_topic& command) {
  protocol::metadata_delete_topic record;
  record.topic_id = command.id;
  return framed(kind::delete_topic, record);
}

bytes to_bytes(const forget_deletions& command) {
  protocol::metadata_forget_deletions record;
  record.through = static_cast<std::int64_t>(command.through);
  return framed(kind::forget_deletions, record);
}

}  // namespace

bytes encode(const command& command) {
  return std::visit([](const auto& one) { return to_bytes(one); }, command);
}

result<command> decode(const bytes& payload) {
  const auto malformed = std::make_error_code(std::errc::bad_message);
  if (payload.size() < prefix_bytes) return fail(malformed, "metadata command without kind and version");
  const auto what = static_cast<kind>(load_be<std::int16_t>(payload.data()));
  const auto version = load_be<std::int16_t>(payload.data() + sizeof(std::int16_t));
  const bytes body = payload.slice(prefix_bytes);
  switch (what) {
    case kind::found_cluster: {
      BRAID_TRY(record, protocol::metadata_found_cluster::decode(body, version));
      return command(found_cluster{record.cluster_id});
    }
    case kind::register_broker: {
      BRAID_TRY(record, protocol::metadata_register_broker::decode(body, version));
      register_broker made{record.broker_id, {record.incarnation, record.draining, {}}};
      for (const auto& one : record.listeners) made.registration.listeners.push_back({one.name, one.host, one.port});
      made.registration.rack = record.rack;
      return command(std::move(made));
    }
    case kind::create_topic: {
      BRAID_TRY(record, protocol::metadata_create_topic::decode(body, version));
      create_topic made{record.topic_name, record.topic_id, record.partitions, {}};
      for (const auto& config : record.configs) made.configs.emplace(config.name, config.value);
      return command(std::move(made));
    }
    case kind::allocate_producer_ids: {
      BRAID_TRY(record, protocol::metadata_allocate_producer_ids::decode(body, version));
      return command(allocate_producer_ids{record.broker_id});
    }
    case kind::alter_topic: {
      BRAID_TRY(record, protocol::metadata_alter_topic::decode(body, version));
      alter_topic altered{record.topic_id, record.partitions, {}};
      for (const auto& config : record.configs) altered.configs.emplace(config.name, config.value);
      return command(std::move(altered));
    }
    case kind::delete_topic: {
      BRAID_TRY(record, protocol::metadata_delete_topic::decode(body, version));
      return command(delete_topic{record.topic_id});
    }
    case kind::forget_deletions: {
      BRAID_TRY(record, protocol::metadata_forget_deletions::decode(body, version));
      return command(forget_deletions{static_cast<std::uint64_t>(record.through)});
    }
  }
  return fail(malformed, fmt::format("metadata command of unknown kind {}", static_cast<int>(what)));
}

}  // namespace braidmq::metadata
