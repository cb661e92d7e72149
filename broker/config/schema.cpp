#include "config/schema.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numeric>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace braidmq::config {
namespace {

constexpr std::int64_t mib = 1024 * 1024;
constexpr std::int64_t gib = 1024 * mib;
constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();

// clang-format off
const std::array<key_spec, 50> keys = {{
    {.name = "broker.id", .member = &broker_config::broker_id, .default_value = "0", .min = 0, .max = int32_max,
     .words = "Number of this broker, unique in the cluster and the same for ever"},
    {.name = "braid.broker.id.offset", .member = &broker_config::broker_id_offset, .default_value = "0", .min = 0,
     .max = int32_max, .words = "Added to broker.id, so that a pod may give its index there"},
    {.name = "cluster.id", .member = &broker_config::cluster_id, .default_value = "",
     .words = "Id of the cluster to belong to; empty: that of the data folder, or a new one"},
    {.name = "braid.bootstrap", .member = &broker_config::bootstrap, .default_value = "initial",
     .choices = "initial|existing",
     .words = "Whether this broker may found its cluster on empty folders; existing: it must find its data"},
    {.name = "controller.quorum.voters", .member = &broker_config::voters_text, .default_value = "",
     .words = "The brokers that found the cluster together and vote in it, as ID@host:port of their controller.listener, "
              "by commas or as a list, the same for all; empty: this broker is a cluster of its own"},
    {.name = "braid.voters", .member = &broker_config::braid_voters_text, .default_value = "",
     .words = "The same brokers as ID@host:port of their braid.listener; empty: the hosts of controller.quorum.voters with "
              "the port of this broker's braid.listener"},
    {.name = "controller.listener", .member = &broker_config::controller_listener_text, .default_value = "127.0.0.1:9095",
     .words = "Where other brokers reach this one for the metadata quorum; opened when there are other voters"},
    {.name = "braid.listener", .member = &broker_config::braid_listener_text, .default_value = "127.0.0.1:9094",
     .words = "Where other brokers reach this one for the replication of braids; opened when there are other voters"},
    {.name = "braid.heartbeat.ms", .member = &broker_config::heartbeat_ms, .default_value = "50", .unit = "ms", .min = 5,
     .max = 10'000, .words = "How often a leader tells the other voters that it is there; the same for all of them"},
    {.name = "braid.election.timeout.ms", .member = &broker_config::election_timeout_ms, .default_value = "500", .unit = "ms",
     .min = 50, .max = 60'000,
     .words = "A voter that has heard no leader for this long, or up to twice as long, asks to be elected"},
    {.name = "broker.rack", .member = &broker_config::rack, .default_value = "",
     .words = "Where this broker stands (a zone): clients that say the same may fetch from it; empty: nowhere"},
    {.name = "replica.selector.class", .member = &broker_config::replica_selector, .default_value = "leader",
     .choices = "leader|org.apache.kafka.common.replica.RackAwareReplicaSelector",
     .words = "Whom a leader tells consumers to fetch from: itself, or a replica in their rack where there is one"},
    {.name = "data.dir", .member = &broker_config::data_dir, .default_value = "",
     .words = "Folder of segments, checkpoints and metadata; must be given"},
    {.name = "wal.dir", .member = &broker_config::wal_dir, .default_value = "",
     .words = "Folder of the write-ahead log; may be another volume; empty: data.dir/wal"},
    {.name = "listeners", .member = &broker_config::listeners_text, .default_value = "PLAINTEXT://127.0.0.1:9092",
     .words = "Where Kafka clients connect: NAME://host:port, by commas or as a list; port 0 takes a free one"},
    {.name = "advertised.listeners", .member = &broker_config::advertised_listeners_text, .default_value = "",
     .words = "How clients reach the listeners; empty: by the addresses in listeners"},
    {.name = "braid.advertised.pushed", .member = &broker_config::pushed_text, .default_value = "",
     .words = "Listeners that open when PUT /v1/listeners/NAME has told how clients reach them: names, by commas or as a list"},
    {.name = "admin.listener", .member = &broker_config::admin_listener_text, .default_value = "127.0.0.1:9644",
     .words = "Where health, metrics and administration are served by HTTP"},
    {.name = "braid.secret.file", .member = &broker_config::secret_file, .default_value = "",
     .words = "File with the secrets that HTTP changes and other brokers need, one of 32 bytes or more a line; empty: no "
              "changes by HTTP, and no other brokers"},
    {.name = "num.partitions", .member = &broker_config::num_partitions, .default_value = "1", .min = 1, .max = 100'000,
     .words = "Partitions of a topic that is created without a number"},
    {.name = "auto.create.topics.enable", .member = &broker_config::auto_create_topics, .default_value = "false",
     .words = "Create a topic when a client asks for it; Kafka's default is true"},
    {.name = "message.max.bytes", .member = &broker_config::message_max_bytes, .default_value = "1048588", .unit = "bytes",
     .min = 1, .max = gib, .words = "Largest record batch"},
    {.name = "socket.request.max.bytes", .member = &broker_config::socket_request_max_bytes, .default_value = "104857600",
     .unit = "bytes", .min = 1024, .max = gib, .words = "Largest request"},
    {.name = "fetch.max.bytes", .member = &broker_config::fetch_max_bytes, .default_value = "57671680", .unit = "bytes",
     .min = 1024, .max = gib, .words = "Most bytes of records in one fetch answer"},
    {.name = "max.incremental.fetch.session.cache.slots", .member = &broker_config::fetch_session_slots, .default_value = "1000",
     .min = 0, .max = int32_max, .words = "Most incremental fetch sessions; 0: every fetch names all its partitions"},
    {.name = "connections.max.idle.ms", .member = &broker_config::connections_max_idle_ms, .default_value = "600000",
     .unit = "ms", .min = 1000, .max = int64_max / 1'000'000, .words = "A connection without a byte for so long is closed"},
    {.name = "max.connections", .member = &broker_config::max_connections, .default_value = "2147483647", .min = 1,
     .max = int32_max, .words = "Most connections of a listener"},
    {.name = "max.connections.per.ip", .member = &broker_config::max_connections_per_ip, .default_value = "2147483647",
     .min = 1, .max = int32_max, .words = "Most connections of a listener from one address"},
    {.name = "log.segment.bytes", .member = &broker_config::log_segment_bytes, .default_value = "1073741824", .unit = "bytes",
     .min = mib, .max = int32_max, .words = "Size of a segment file"},
    {.name = "log.roll.ms", .member = &broker_config::log_roll_ms, .default_value = "604800000", .unit = "ms",
     .min = 1, .max = int64_max, .words = "A segment ends before a record that is younger than its first one by more than this"},
    {.name = "log.retention.ms", .member = &broker_config::log_retention_ms, .default_value = "604800000", .unit = "ms",
     .min = -1, .max = int64_max, .words = "How long records are kept, by whole segments; -1: for ever"},
    {.name = "log.retention.bytes", .member = &broker_config::log_retention_bytes, .default_value = "-1", .unit = "bytes",
     .min = -1, .max = int64_max, .words = "How much of a partition is kept, by whole segments; -1: all of it"},
    {.name = "log.retention.check.interval.ms", .member = &broker_config::log_retention_check_interval_ms,
     .default_value = "300000", .unit = "ms", .min = 1, .max = int64_max / 1'000'000,
     .words = "How often is looked for records that need not be kept"},
    {.name = "producer.id.expiration.ms", .member = &broker_config::producer_id_expiration_ms, .default_value = "86400000",
     .unit = "ms", .min = 1, .max = int32_max,
     .words = "An idempotent producer that has not written to a partition for so long is forgotten there"},
    {.name = "producer.id.expiration.check.interval.ms",
     .member = &broker_config::producer_id_expiration_check_interval_ms, .default_value = "600000", .unit = "ms", .min = 1,
     .max = int32_max, .words = "How often is looked for producers that are to be forgotten"},
    {.name = "log.index.interval.bytes", .member = &broker_config::log_index_interval_bytes, .default_value = "4096",
     .unit = "bytes", .min = 0, .max = 16 * mib, .words = "Bytes of records between two entries of a segment's index"},
    {.name = "log.message.timestamp.type", .member = &broker_config::log_message_timestamp_type,
     .default_value = "CreateTime", .choices = "CreateTime|LogAppendTime",
     .words = "Whether a record keeps its producer's time or gets the broker's"},
    {.name = "log.message.timestamp.before.max.ms", .member = &broker_config::log_message_timestamp_before_max_ms,
     .default_value = "9223372036854775807", .unit = "ms", .min = 0, .max = int64_max,
     .words = "How much older than the broker's time a record may be"},
    {.name = "log.message.timestamp.after.max.ms", .member = &broker_config::log_message_timestamp_after_max_ms,
     .default_value = "3600000", .unit = "ms", .min = 0, .max = int64_max,
     .words = "How far ahead of the broker's time a record may be"},
    {.name = "produce.atomic", .member = &broker_config::atomic_produce, .default_value = "false",
     .words = "Write what one Produce request brings to topics that do not say otherwise together or not at all"},
    {.name = "wal.file.bytes", .member = &broker_config::wal_file_bytes, .default_value = "67108864", .unit = "bytes",
     .min = 64 * 1024, .max = 16 * gib, .words = "Size at which the next file of the write-ahead log is begun"},
    {.name = "braid.linger.ms", .member = &broker_config::linger_ms, .default_value = "0", .unit = "ms", .min = 0, .max = 1000,
     .words = "Wait for more requests before an entry is made; 0: never while the braid is idle"},
    {.name = "braid.entry.max.bytes", .member = &broker_config::entry_max_bytes, .default_value = "104857600", .unit = "bytes",
     .min = 1024, .max = gib - mib, .words = "Largest entry of the log, and so the largest atomic write"},
    {.name = "braid.write.behind.max.bytes", .member = &broker_config::write_behind_max_bytes, .default_value = "67108864",
     .unit = "bytes", .min = mib, .max = 64 * gib, .words = "Applied bytes that wait for the disk, an eighth of the memory at most; beyond it apply waits"},
    {.name = "braid.checkpoint.bytes", .member = &broker_config::checkpoint_bytes, .default_value = "268435456", .unit = "bytes",
     .min = mib, .max = 64 * gib, .words = "Applied bytes after which the state is saved again; a start reads them once more"},
    {.name = "braid.checkpoint.interval.ms", .member = &broker_config::checkpoint_interval_ms, .default_value = "60000",
     .unit = "ms", .min = 100, .max = 86'400'000, .words = "How old the saved state may become while anything is written"},
    {.name = "braid.disk.reserve.bytes", .member = &broker_config::disk_reserve_bytes, .default_value = "0", .unit = "bytes",
     .min = 0, .max = 1024 * gib, .words = "Free space below which writes are refused; 0: 5 % of each volume, from 256 MiB to 1 GiB, or what is then under way"},
    {.name = "braid.shards", .member = &broker_config::shards, .default_value = "0", .min = 0, .max = 1024,
     .words = "Event loops; 0: as many as the CPU quota has whole CPUs"},
    {.name = "log.level", .member = &broker_config::log_level, .default_value = "info",
     .choices = "trace|debug|info|warn|error|off", .words = "The least important lines that are logged"},
    {.name = "log.format", .member = &broker_config::log_format, .default_value = "text", .choices = "text|json",
     .words = "Form of the log lines"},
}};
// clang-format on

std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row[b.size()];
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  const auto digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.size() > 1 && digits[0] == '0') return std::nullopt;  // YAML readers disagree: octal or not
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_choice(std::string_view choices, std::string_view value) {
  while (true) {
    const auto bar = choices.find('|');
    if (choices.substr(0, bar) == value) return true;
    if (bar == std::string_view::npos) return false;
    choices.remove_prefix(bar + 1);
  }
}

std::optional<std::string> set_number(broker_config& target, const key_spec& key, const std::string& value) {
  const auto number = parse_number(value);
  if (!number || *number < key.min || *number > key.max) {
    return fmt::format("must be a whole number from {} to {}{}", key.min, key.max,
                       key.unit.empty() ? std::string() : fmt::format(" ({})", key.unit));
  }
  target.*std::get<std::int64_t broker_config::*>(key.member) = *number;
  return std::nullopt;
}

std::optional<std::string> set_bool(broker_config& target, const key_spec& key, const std::string& value) {
  if (value != "true" && value != "false") return "must be true or false";
  target.*std::get<bool broker_config::*>(key.member) = value == "true";
  return std::nullopt;
}

}  // namespace

std::span<const key_spec> key_table() {
  return keys;
}

const key_spec* find_key(std::string_view name) {
  const auto table = key_table();
  const auto found = std::ranges::find(table, name, &key_spec::name);
  return found == table.end() ? nullptr : &*found;
}

std::optional<std::string_view> nearest_key(std::string_view name) {
  constexpr std::size_t longest = 200;  // a key of megabytes is no typing error
  if (name.size() > longest) return std::nullopt;
  const auto table = key_table();
  const auto nearest =
      std::ranges::min_element(table, {}, [name](const key_spec& key) { return edits_between(name, key.name); });
  if (edits_between(name, nearest->name) > std::max<std::size_t>(2, name.size() / 3)) return std::nullopt;
  return nearest->name;
}

std::optional<std::string> set_value(broker_config& target, const key_spec& key, const std::string& value) {
  if (std::holds_alternative<std::int64_t broker_config::*>(key.member)) return set_number(target, key, value);
  if (std::holds_alternative<bool broker_config::*>(key.member)) return set_bool(target, key, value);
  if (!key.choices.empty() && !is_choice(key.choices, value)) return fmt::format("must be one of {}", key.choices);
  target.*std::get<std::string broker_config::*>(key.member) = value;
  return std::nullopt;
}

}  // namespace braidmq::config
