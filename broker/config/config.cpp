#include "config/config.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "base/check.hpp"
#include "base/uuid.hpp"
#include "config/schema.hpp"

namespace braidmq::config {
namespace {

constexpr std::size_t max_file_bytes = std::size_t{1024} * 1024;

// Where something stands, for people: lines and columns count from 1.
std::string place(const std::string& name, const YAML::Mark& mark) {
  return fmt::format("{}:{}:{}", name, mark.line + 1, mark.column + 1);
}

error unknown_key(const std::string& key) {
  const auto nearest = nearest_key(key);
  return {make_error_code(errc::unknown_key),
          fmt::format("there is no key \"{}\"{}", key,
                      nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : std::string())};
}

error bad_value(const std::string& where, std::string_view key, const std::string& value, const std::string& allowed) {
  return {make_error_code(errc::bad_value), fmt::format("{}: {}: \"{}\": {}", where, key, value, allowed)};
}

// A plain value, or a list of them joined by commas where a text is allowed.
result<std::string> text_of(const YAML::Node& value, const key_spec& key, const std::string& where) {
  if (value.IsNull()) return std::string();
  if (value.IsScalar()) return value.Scalar();
  const bool list_allowed = std::holds_alternative<std::string broker_config::*>(key.member) && key.choices.empty();
  if (value.IsSequence() && list_allowed) {
    std::string joined;
    for (const auto& item : value) {
      if (!item.IsScalar()) return fail(errc::bad_value, fmt::format("{}: {}: a list of texts", where, key.name));
      joined += (joined.empty() ? "" : ",") + item.Scalar();
    }
    return joined;
  }
  return fail(errc::bad_value,
              fmt::format("{}: {}: needs one value in the same line (keys are flat: \"log.segment.bytes: 1048576\")",
                          where, key.name));
}

status read_map(const YAML::Node& root, const std::string& name, broker_config& target) {
  if (root.IsNull()) return {};  // an empty file
  if (!root.IsMap()) {
    return fail(errc::not_readable, place(name, root.Mark()) + ": needs lines of the form \"key: value\"");
  }
  std::map<std::string, YAML::Mark> seen;
  for (const auto& item : root) {
    const auto where = place(name, item.first.Mark());
    if (!item.first.IsScalar()) return fail(errc::unknown_key, where + ": a key is a plain text");
    const auto& key_text = item.first.Scalar();
    const auto* key = find_key(key_text);
    if (key == nullptr) return tl::unexpected(with_context(unknown_key(key_text), where));
    const auto [before, first] = seen.emplace(key_text, item.first.Mark());
    if (!first) {
      return fail(errc::duplicate_key,
                  fmt::format("{}: {} was given before at {}", where, key_text, place(name, before->second)));
    }
    const auto value_where = place(name, item.second.IsNull() ? item.first.Mark() : item.second.Mark());
    BRAID_TRY(value, text_of(item.second, *key, value_where));
    if (const auto allowed = set_value(target, *key, value)) {
      return tl::unexpected(bad_value(value_where, key->name, value, *allowed));
    }
  }
  return {};
}

status read_text(std::string_view text, const std::string& name, broker_config& target) {
  try {
    const auto documents = YAML::LoadAll(std::string(text));
    if (documents.size() > 1) {
      return fail(errc::not_readable,
                  place(name, documents[1].Mark()) + ": a second document; the configuration is one map");
    }
    if (documents.empty()) return {};
    return read_map(documents[0], name, target);
  } catch (const YAML::Exception& e) {
    return fail(errc::not_readable, fmt::format("{}: {}", place(name, e.mark), e.msg));
  }
}

status apply_override(const std::string& given, broker_config& target) {
  const auto where = fmt::format("--set {}", given);
  const auto equals = given.find('=');
  if (equals == std::string::npos) return fail(errc::bad_value, where + ": needs the form key=value");
  const auto name = given.substr(0, equals);
  const auto value = given.substr(equals + 1);
  const auto* key = find_key(name);
  if (key == nullptr) return tl::unexpected(with_context(unknown_key(name), where));
  if (const auto allowed = set_value(target, *key, value)) {
    return tl::unexpected(bad_value(where, key->name, value, *allowed));
  }
  return {};
}

// The addresses, from the texts of several keys.
status read_listeners(broker_config& target) {
  auto listeners = parse_listeners(target.listeners_text);
  if (!listeners) return tl::unexpected(with_context(listeners.error(), "listeners"));
  if (listeners->empty()) return fail(errc::bad_value, "listeners must name one at least");
  auto advertised = parse_listeners(target.advertised_listeners_text);
  if (!advertised) return tl::unexpected(with_context(advertised.error(), "advertised.listeners"));
  auto pushed = parse_names(target.pushed_text, *listeners);
  if (!pushed) return tl::unexpected(with_context(pushed.error(), "braid.advertised.pushed"));
  BRAID_TRY(shown, advertise(*listeners, *advertised, *pushed));
  auto admin = io::parse_endpoint(target.admin_listener_text);
  if (!admin) return tl::unexpected(with_context(admin.error(), "admin.listener"));
  target.listeners = std::move(*listeners);
  target.advertised_listeners = std::move(shown);
  target.pushed_listeners = std::move(*pushed);
  target.admin_listener = std::move(*admin);
  return {};
}

// The other brokers that vote. A cluster of one needs none of it.
status read_voters(broker_config& target) {
  auto controller = io::parse_endpoint(target.controller_listener_text);
  if (!controller) return tl::unexpected(with_context(controller.error(), "controller.listener"));
  auto braid = io::parse_endpoint(target.braid_listener_text);
  if (!braid) return tl::unexpected(with_context(braid.error(), "braid.listener"));
  target.controller_listener = std::move(*controller);
  target.braid_listener = std::move(*braid);
  if (target.voters_text.empty() && !target.braid_voters_text.empty()) {
    return fail(errc::bad_value, "braid.voters is given without controller.quorum.voters");
  }
  auto voters = parse_voters(target.voters_text, target.braid_voters_text, target.braid_listener.port);
  if (!voters) return tl::unexpected(with_context(voters.error(), "controller.quorum.voters"));
  target.voters = std::move(*voters);
  if (target.voters.empty()) return {};
  if (std::ranges::find(target.voters, target.broker_id, &voter::broker) == target.voters.end()) {
    return fail(
        errc::bad_value,
        fmt::format("broker {} is not among controller.quorum.voters: brokers that do not vote are not built yet",
                    target.broker_id));
  }
  // Fewer beats than these in a timeout, and one that is late makes an election.
  constexpr std::int64_t least_beats = 3;
  if (target.election_timeout_ms < least_beats * target.heartbeat_ms) {
    return fail(errc::bad_value, fmt::format("braid.election.timeout.ms ({}) must be {} times braid.heartbeat.ms ({}) "
                                             "at least",
                                             target.election_timeout_ms, least_beats, target.heartbeat_ms));
  }
  if (target.voters.size() > 1 && target.secret_file.empty()) {
    return fail(errc::bad_value, "brokers know each other by a secret: braid.secret.file must be given");
  }
  return {};
}

// What follows from several keys, and what a single range cannot say.
status complete(broker_config& target) {
  if (target.data_dir.empty()) return fail(errc::bad_value, "data.dir must be given: where the broker keeps its data");
  if (target.wal_dir.empty()) target.wal_dir = target.data_dir + "/wal";
  if (target.message_max_bytes > target.entry_max_bytes) {
    return fail(errc::bad_value,
                fmt::format("message.max.bytes ({}) must not exceed braid.entry.max.bytes ({}): a batch is never split",
                            target.message_max_bytes, target.entry_max_bytes));
  }
  if (target.broker_id + target.broker_id_offset > std::numeric_limits<std::int32_t>::max()) {
    return fail(errc::bad_value,
                fmt::format("broker.id ({}) and braid.broker.id.offset ({}) are {} or less together", target.broker_id,
                            target.broker_id_offset, std::numeric_limits<std::int32_t>::max()));
  }
  target.broker_id += target.broker_id_offset;
  if (!target.cluster_id.empty() && !uuid::parse(target.cluster_id)) {
    return fail(errc::bad_value, fmt::format("cluster.id '{}' is not an id: 22 characters of A-Z, a-z, 0-9, '-', '_'",
                                             target.cluster_id));
  }
  BRAID_TRY_VOID(read_listeners(target));
  return read_voters(target);
}

broker_config defaults() {
  broker_config made;
  for (const auto& key : key_table()) {
    const auto refused = set_value(made, key, std::string(key.default_value));
    BRAID_CHECK(!refused, "default of {} {}", key.name, *refused);
  }
  return made;
}

}  // namespace

result<broker_config> parse_config(std::string_view text, const std::string& name,
                                   const std::vector<std::string>& overrides) {
  broker_config made = defaults();
  BRAID_TRY_VOID(read_text(text, name, made));
  for (const auto& one : overrides) BRAID_TRY_VOID(apply_override(one, made));
  BRAID_TRY_VOID(complete(made));
  return made;
}

result<broker_config> load_config(const std::string& path, const std::vector<std::string>& overrides) {
  if (path.empty()) return parse_config("", "defaults", overrides);
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(errc::not_readable, fmt::format("{}: cannot be opened", path));
  std::string text(max_file_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return fail(errc::not_readable, fmt::format("{}: cannot be read", path));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > max_file_bytes) {
    return fail(errc::not_readable, fmt::format("{}: larger than {} bytes", path, max_file_bytes));
  }
  return parse_config(text, path, overrides);
}

std::vector<problem> check_values(const std::map<std::string, std::string>& values) {
  std::vector<problem> found;
  broker_config made = defaults();
  for (const auto& [name, value] : values) {
    const auto* key = find_key(name);
    if (key == nullptr) {
      const error unknown = unknown_key(name);
      found.push_back({name, unknown.code, unknown.message});
    } else if (const auto allowed = set_value(made, *key, value)) {
      found.push_back({name, errc::bad_value, fmt::format("{}: \"{}\": {}", name, value, *allowed)});
    }
  }
  if (!found.empty()) return found;  // what several say together cannot be told yet
  if (!values.contains("data.dir")) made.data_dir = "/";
  if (const status together = complete(made); !together) {
    found.push_back({{}, together.error().code, together.error().message});
  }
  return found;
}

std::string print_defaults() {
  std::string out;
  for (const auto& key : key_table()) {
    out += fmt::format("# {}", key.words);
    if (std::holds_alternative<std::int64_t broker_config::*>(key.member)) {
      out += fmt::format(" ({}{} to {})", key.unit.empty() ? "" : fmt::format("{}, ", key.unit), key.min, key.max);
    }
    if (!key.choices.empty()) out += fmt::format(" ({})", key.choices);
    const bool quoted = key.default_value.empty();
    out += fmt::format(".\n{}: {}\n\n", key.name, quoted ? "\"\"" : key.default_value);
  }
  return out;
}

}  // namespace braidmq::config
