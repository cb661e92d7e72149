#include "server/topic_config_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "metadata/errc.hpp"

namespace braidmq::server {
namespace {

using enum config_type;

constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view forever = "9223372036854775807";
constexpr std::string_view codecs = "uncompressed|zstd|lz4|snappy|gzip|producer";
constexpr std::size_t longest_value_bytes = 16'384;  // a record on disk takes strings of up to 32,767
constexpr bool acts = true;
constexpr bool not_yet = false;

// clang-format off
constexpr std::array<topic_config_rule, 38> rules{{
    {"cleanup.policy", list, 0, 0, "compact|delete", "delete", acts, "what becomes of old records: removed after retention, or all but the newest of each key. Without delete everything is kept: there is no compaction yet"},
    {"compression.gzip.level", int32, -1, 9, "", "-1", not_yet, "level, when the broker compresses with gzip"},
    {"compression.lz4.level", int32, 1, 17, "", "9", not_yet, "level, when the broker compresses with lz4"},
    {"compression.type", word, 0, 0, codecs, "producer", not_yet, "the codec of stored batches. They stay as the producer made them"},
    {"compression.zstd.level", int32, -131'072, 22, "", "3", not_yet, "level, when the broker compresses with zstd"},
    {"delete.retention.ms", int64, 0, int64_max, "", "86400000", not_yet, "how long a tombstone stays in a compacted topic"},
    {"errors.deadletterqueue.group.enable", boolean, 0, 0, "", "false", not_yet, "whether share groups may use the topic for records that cannot be processed"},
    {"file.delete.delay.ms", int64, 0, int64_max, "", "60000", not_yet, "how long a removed segment's file stays. Files go when no reader holds them"},
    {"flush.messages", int64, 1, int64_max, "", forever, not_yet, "records between two syncs. Every acknowledged record is synced in the braid's log"},
    {"flush.ms", int64, 0, int64_max, "", forever, not_yet, "time between two syncs. Every acknowledged record is synced in the braid's log"},
    {"follower.replication.throttled.replicas", list, 0, 0, "", "", not_yet, "replicas whose reception is throttled"},
    {"index.interval.bytes", int32, 0, int32_max, "", "4096", not_yet, "bytes between two index entries. The broker's own setting is used",
     "log.index.interval.bytes", [](const broker_options& o) { return std::to_string(o.log.index_interval_bytes); }},
    {"leader.replication.throttled.replicas", list, 0, 0, "", "", not_yet, "replicas whose sending is throttled"},
    {"local.retention.bytes", int64, -2, int64_max, "", "-2", not_yet, "bytes kept locally of a tiered topic; -2: as retention.bytes"},
    {"local.retention.ms", int64, -2, int64_max, "", "-2", not_yet, "time kept locally of a tiered topic; -2: as retention.ms"},
    {"max.compaction.lag.ms", int64, 1, int64_max, "", forever, not_yet, "after so long a record is compacted in any case"},
    {"max.decompressed.message.bytes", int32, 1, 2'147'483'639, "", "2147483639", not_yet, "largest batch when decompressed"},
    {"max.message.bytes", int32, 0, int32_max, "", "1048588", acts, "largest record batch that is accepted",
     "message.max.bytes", [](const broker_options& o) { return std::to_string(o.max_message_bytes); }},
    {"message.timestamp.after.max.ms", int64, 0, int64_max, "", "3600000", acts, "how far a record's time may lie after the broker's",
     "log.message.timestamp.after.max.ms", [](const broker_options& o) { return std::to_string(o.timestamp_after_max_ms); }},
    {"message.timestamp.before.max.ms", int64, 0, int64_max, "", forever, acts, "how far a record's time may lie before the broker's",
     "log.message.timestamp.before.max.ms", [](const broker_options& o) { return std::to_string(o.timestamp_before_max_ms); }},
    {"message.timestamp.type", word, 0, 0, "CreateTime|LogAppendTime", "CreateTime", acts, "whose time a record has: the producer's or the broker's",
     "log.message.timestamp.type", [](const broker_options& o) { return std::string(o.log_append_time ? "LogAppendTime" : "CreateTime"); }},
    {"min.cleanable.dirty.ratio", fraction, 0, 1, "", "0.5", not_yet, "share of uncompacted bytes at which compaction begins"},
    {"min.compaction.lag.ms", int64, 0, int64_max, "", "0", not_yet, "so long a record is not compacted"},
    {"min.insync.replicas", int32, 1, int32_max, "", "1", not_yet, "replicas that must have a write. In a braid a majority always has it"},
    {"preallocate", boolean, 0, 0, "", "false", not_yet, "whether segment files are made at their full size"},
    {"produce.atomic", boolean, 0, 0, "", "false", acts, "BraidMQ's own: the slices of one Produce request that go to topics with it are written together or not at all",
     "produce.atomic", [](const broker_options& o) { return std::string(o.atomic_produce ? "true" : "false"); }},
    {"remote.copy.lag.bytes", int64, -1, int64_max, "", "-1", not_yet, "bytes after which a segment is copied to remote storage"},
    {"remote.copy.lag.ms", int64, -1, int64_max, "", "0", not_yet, "time after which a segment is copied to remote storage"},
    {"remote.log.copy.disable", boolean, 0, 0, "", "false", not_yet, "stops copying to remote storage"},
    {"remote.log.delete.on.disable", boolean, 0, 0, "", "false", not_yet, "removes remote segments when remote storage is switched off"},
    {"remote.storage.enable", boolean, 0, 0, "", "false", not_yet, "tiered storage. It is not there yet: only false is accepted"},
    {"retention.bytes", int64, -1, int64_max, "", "-1", acts, "bytes of a partition that are kept, by whole segments; -1: no bound",
     "log.retention.bytes", [](const broker_options& o) { return std::to_string(o.retention_bytes); }},
    {"retention.ms", int64, -1, int64_max, "", "604800000", acts, "how long records are kept, by whole segments; -1: for ever",
     "log.retention.ms", [](const broker_options& o) { return std::to_string(o.retention_ms); }},
    {"segment.bytes", int32, 1'048'576, int32_max, "", "1073741824", acts, "size of a segment file",
     "log.segment.bytes", [](const broker_options& o) { return std::to_string(o.log.segments.bytes); }},
    {"segment.index.bytes", int32, 4, int32_max, "", "10485760", not_yet, "size of a segment's index files"},
    {"segment.jitter.ms", int64, 0, int64_max, "", "0", not_yet, "random part of segment.ms"},
    {"segment.ms", int64, 1, int64_max, "", "604800000", acts, "a segment ends before a record that is younger than its first one by more than this",
     "log.roll.ms", [](const broker_options& o) { return std::to_string(o.log.segments.ms); }},
    {"unclean.leader.election.enable", boolean, 0, 0, "", "false", not_yet, "whether a replica that lacks records may lead. In a braid it never does"},
}};
// clang-format on

tl::unexpected<error> invalid(const topic_config_rule& rule, const std::string& value, const std::string& takes) {
  constexpr std::size_t shown_bytes = 100;
  return fail(metadata::errc::invalid_config,
              fmt::format("{} is '{}'; it takes {}", rule.name, value.substr(0, shown_bytes), takes));
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_fraction(const std::string& text) {
  double value = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc{} && end == text.data() + text.size() && std::isfinite(value) && value >= 0 && value <= 1;
}

std::vector<std::string> choices_of(const topic_config_rule& rule) {
  std::vector<std::string> choices;
  std::string_view rest = rule.words;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    choices.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return choices;
}

// "3:0": a partition and a broker.
bool is_replica(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const auto partition = parse_integer(text.substr(0, colon));
  const auto broker = parse_integer(text.substr(colon + 1));
  return partition && broker && *partition >= 0 && *broker >= 0;
}

status check_list(const topic_config_rule& rule, const std::string& value) {
  const std::vector<std::string> words = words_of(value);
  if (rule.words.empty()) {
    if (value == "*" || std::ranges::all_of(words, is_replica)) return {};
    return invalid(rule, value, "*, or a list of partition:broker");
  }
  const std::vector<std::string> choices = choices_of(rule);
  const bool are_known = std::ranges::all_of(
      words, [&](const std::string& word) { return std::ranges::find(choices, word) != choices.end(); });
  const bool are_different = std::set<std::string>(words.begin(), words.end()).size() == words.size();
  if (are_known && are_different) return {};
  return invalid(rule, value, fmt::format("a list of: {}, each once", fmt::join(choices, ", ")));
}

status check_integer(const topic_config_rule& rule, const std::string& value, std::int32_t replication_factor) {
  const bool counts_replicas = rule.name == "min.insync.replicas";
  const std::int64_t max = counts_replicas ? replication_factor : rule.max;
  const auto number = parse_integer(value);
  const bool is_gap = rule.name == "compression.gzip.level" && number == 0;
  if (number && *number >= rule.min && *number <= max && !is_gap) return {};
  if (counts_replicas) {
    return invalid(rule, value, fmt::format("an integer from 1 to the replication factor, which is {}", max));
  }
  return invalid(rule, value, fmt::format("an integer from {} to {}{}", rule.min, max, is_gap ? ", but not 0" : ""));
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::span<const topic_config_rule> topic_config_rules() {
  return rules;
}

const topic_config_rule* find_topic_config(std::string_view name) {
  static_assert(std::ranges::is_sorted(rules, {}, &topic_config_rule::name));
  const auto found = std::ranges::lower_bound(rules, name, {}, &topic_config_rule::name);
  return found == rules.end() || found->name != name ? nullptr : &*found;
}

std::optional<std::string_view> nearest_topic_config(std::string_view name) {
  constexpr std::size_t longest_name = 64;  // nothing longer is like one of ours, and the search is quadratic
  if (name.size() > longest_name) return std::nullopt;
  std::string plain(name);
  std::ranges::transform(plain, plain.begin(), [](char c) { return c == '_' || c == '-' ? '.' : c; });
  const topic_config_rule* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const topic_config_rule& rule : rules) {
    const std::size_t distance = edit_distance(plain, rule.name);
    if (distance >= best_distance) continue;
    best = &rule;
    best_distance = distance;
  }
  return best == nullptr ? std::nullopt : std::optional(best->name);
}

status check_topic_config(const topic_config_rule& rule, const std::string& value, std::int32_t replication_factor) {
  if (value.size() > longest_value_bytes) {
    return invalid(rule, value, fmt::format("at most {} bytes", longest_value_bytes));
  }
  switch (rule.type) {
    case boolean:
      if (rule.name == "remote.storage.enable" && value == "true") {
        return invalid(rule, value, "false: tiered storage is not available in this version of BraidMQ");
      }
      if (value == "true" || value == "false") return {};
      return invalid(rule, value, "true or false");
    case word: {
      const std::vector<std::string> choices = choices_of(rule);
      if (std::ranges::find(choices, value) != choices.end()) return {};
      return invalid(rule, value, fmt::format("one of: {}", fmt::join(choices, ", ")));
    }
    case int32:
    case int64:
      return check_integer(rule, value, replication_factor);
    case fraction:
      if (is_fraction(value)) return {};
      return invalid(rule, value, "a number from 0 to 1");
    case list:
      return check_list(rule, value);
  }
  return {};
}

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, end);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    words.emplace_back(word);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return words;
}

}  // namespace braidmq::server
