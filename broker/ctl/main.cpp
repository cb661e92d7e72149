// braidctl: looks at a broker and changes it, by its HTTP API, and writes records by the Kafka protocol. Exit codes: 0
// done, 1 refused or not reachable, 2 wrong usage.
#include <csignal>
#include <iostream>
#include <thread>

#include <CLI/CLI.hpp>

#include "ctl/commands.hpp"
#include "ctl/parse.hpp"
#include "io/random.hpp"

namespace {

using namespace braidmq;  // NOLINT(google-build-using-namespace): one small file

struct arguments {
  std::string admin = "127.0.0.1:9644";
  std::string secret_file;
  std::string output = "table";
  std::string timeout = "120s";
  std::string path;
  std::vector<std::string> sets;
  std::string name;
  std::string id;
  std::int32_t partitions = -1;
  std::int32_t replication_factor = -1;
  std::vector<std::string> configs;
  std::vector<std::string> unset;
  bool validate_only = false;
  std::string bootstrap = "127.0.0.1:9092";
  std::vector<std::string> records;
  std::string key;
  std::string file;
  bool atomic = false;
  std::string topic;
  std::string from = "earliest";
  std::optional<std::uint64_t> max_records;
  bool follow = false;
  std::vector<std::string> paths;
};

// An argument that has the wrong form, found when its command runs.
struct bad_usage {
  std::string words;
};

ctl::context make_context(const arguments& given) {
  ctl::context made{.out = std::cout, .err = std::cerr, .connect = nullptr, .sleep = nullptr};
  made.as = given.output == "json" ? ctl::format::json : ctl::format::table;
  // A program that waits for another one's work has no condition of its own to wait on.
  made.sleep = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };  // tidy: allow(sleep)
  made.connect = [&given](std::chrono::milliseconds timeout) {
    admin_client::client_options options;
    options.url = ctl::url_of(given.admin);
    options.timeout = timeout;
    if (!given.secret_file.empty()) options.secret = admin_client::secret_from_file(given.secret_file);
    return admin_client::connect(std::move(options));
  };
  made.write = [](const std::string& bootstrap, const std::vector<kafka_client::outgoing_record>& records,
                  bool atomic) -> result<std::vector<kafka_client::written_slice>> {
    kafka_client::client_options options;
    BRAID_TRY(brokers, kafka_client::parse_bootstrap(bootstrap));
    options.bootstrap = std::move(brokers);
    BRAID_TRY(client, kafka_client::client::connect(std::move(options)));
    return kafka_client::produce(*client, records,
                                 {.atomic = atomic, .keyless_choice = io::system_random().next_u64()});
  };
  return made;
}

std::map<std::string, std::string> configs_of(const arguments& given) {
  auto configs = ctl::parse_configs(given.configs);
  if (!configs) throw bad_usage{"--config needs the form key=value, each key once"};
  return *configs;
}

int create(ctl::context& with, const arguments& given) {
  return ctl::create_topic(with, {.name = given.name,
                                  .partitions = given.partitions,
                                  .replication_factor = given.replication_factor,
                                  .configs = configs_of(given),
                                  .validate_only = given.validate_only});
}

int alter(ctl::context& with, const arguments& given) {
  admin_client::topic_change wanted{.name = given.name, .validate_only = given.validate_only};
  if (!given.id.empty()) wanted.id = given.id;
  if (given.partitions != -1) wanted.partitions = given.partitions;
  for (auto& [key, value] : configs_of(given)) wanted.configs[key] = value;
  for (const std::string& key : given.unset) {
    if (!wanted.configs.emplace(key, std::nullopt).second) throw bad_usage{key + " is both set and unset"};
  }
  if (!wanted.partitions && wanted.configs.empty()) {
    throw bad_usage{"nothing to change: give --partitions, --config or --unset"};
  }
  return ctl::alter_topic(with, wanted);
}

int drain(ctl::context& with, const arguments& given) {
  const auto timeout = ctl::parse_duration(given.timeout);
  if (!timeout) throw bad_usage{"--timeout is a number with a unit: 500ms, 120s or 2m"};
  return ctl::drain(with, *timeout);
}

int produce(ctl::context& with, const arguments& given) {
  ctl::produce_order wanted{.bootstrap = given.bootstrap, .records = {}, .file = given.file, .atomic = given.atomic};
  for (const std::string& text : given.records) {
    auto record = ctl::parse_record(text);
    if (!record) throw bad_usage{"\"" + text + "\" is not of the form topic=value or topic:partition=value"};
    if (!given.key.empty()) record->key = given.key;
    wanted.records.push_back(std::move(*record));
  }
  if (wanted.records.empty() && wanted.file.empty()) throw bad_usage{"nothing to write: give topic=value or --file"};
  return ctl::produce(with, wanted);
}

int consume(ctl::context& with, const arguments& given) {
  const auto topic = ctl::parse_topic(given.topic);
  if (!topic) throw bad_usage{"the topic has the form TOPIC or TOPIC:PARTITION"};
  const auto from = ctl::parse_start(given.from, io::system_clock().wall_ms());
  if (!from) {
    throw bad_usage{"--from is earliest, latest, an offset, a time like 2026-11-30T12:00:00Z, or how long ago: 10m"};
  }
  ctl::consume_arguments wanted{given.bootstrap, {}, given.max_records};
  wanted.what.topic = topic->name;
  wanted.what.partition = topic->partition;
  wanted.what.from = *from;
  wanted.what.follow = given.follow;
  return ctl::consume(with, wanted);
}

using action = std::function<int(ctl::context&)>;

void add_topic_commands(CLI::App& topics, arguments& given, action& chosen) {
  topics.require_subcommand(1);
  auto* list = topics.add_subcommand("list", "all topics");
  list->callback([&] { chosen = [](ctl::context& with) { return ctl::list_topics(with); }; });

  auto* get = topics.add_subcommand("get", "one topic");
  get->add_option("name", given.name)->required();
  get->callback([&] { chosen = [&](ctl::context& with) { return ctl::get_topic(with, given.name); }; });

  auto* make = topics.add_subcommand("create", "a new topic");
  make->add_option("name", given.name)->required();
  make->add_option("--partitions", given.partitions, "how many; the broker's default when not given");
  make->add_option("--replication-factor", given.replication_factor, "the braid's when not given");
  make->add_option("--config", given.configs, "key=value; may be given more than once");
  make->add_flag("--validate-only", given.validate_only, "check it, make nothing");
  make->callback([&] { chosen = [&](ctl::context& with) { return create(with, given); }; });

  auto* change = topics.add_subcommand("alter", "more partitions, other configs");
  change->add_option("name", given.name)->required();
  change->add_option("--id", given.id, "only when the topic has this id");
  change->add_option("--partitions", given.partitions, "the new number; it may only grow");
  change->add_option("--config", given.configs, "key=value; may be given more than once");
  change->add_option("--unset", given.unset, "a config that goes back to its default; may be given more than once");
  change->add_flag("--validate-only", given.validate_only, "check it, change nothing");
  change->callback([&] { chosen = [&](ctl::context& with) { return alter(with, given); }; });

  auto* remove = topics.add_subcommand("delete", "a topic and all its records, for good");
  remove->add_option("name", given.name)->required();
  remove->add_option("--id", given.id, "only when the topic has this id");
  remove->callback([&] {
    chosen = [&](ctl::context& with) {
      return ctl::delete_topic(with, given.name, given.id.empty() ? std::nullopt : std::optional(given.id));
    };
  });
}

void add_commands(CLI::App& cli, arguments& given, action& chosen) {
  cli.add_option("--admin", given.admin, "host:port of a broker's admin.listener")
      ->envname("BRAIDCTL_ADMIN")
      ->capture_default_str();
  cli.add_option("--secret-file", given.secret_file, "file whose first line is the secret that changes need")
      ->envname("BRAIDCTL_SECRET_FILE");
  cli.add_option("--bootstrap", given.bootstrap, "host:port of a broker's Kafka listener; several by commas")
      ->envname("BRAIDCTL_BOOTSTRAP")
      ->capture_default_str();
  cli.add_option("-o,--output", given.output, "table or json")->check(CLI::IsMember({"table", "json"}));
  cli.set_version_flag("--version", BRAID_VERSION);
  cli.require_subcommand(1);
  cli.fallthrough();

  auto* cluster = cli.add_subcommand("cluster", "brokers and braids");
  cluster->callback([&] { chosen = [](ctl::context& with) { return ctl::show_cluster(with); }; });

  add_topic_commands(*cli.add_subcommand("topics", "list, get, create, alter, delete")->fallthrough(), given, chosen);

  auto* write = cli.add_subcommand("produce", "write records; with --atomic all of them or none")->fallthrough();
  write->add_option("records", given.records, "topic=value, or topic:partition=value");
  write->add_flag("--atomic", given.atomic, "one request over all topics that is written whole or not at all");
  write->add_option("--key", given.key, "key of the records that stand as arguments; it chooses partitions as in Java");
  write->add_option("--file", given.file,
                    "more records, a line each: topic, key, value, with tabs between; - is stdin");
  write->callback([&] { chosen = [&](ctl::context& with) { return produce(with, given); }; });

  auto* draining = cli.add_subcommand("drain", "hand over what a broker leads before it stops; always ends with 0");
  draining->add_option("--timeout", given.timeout, "how long to wait: 500ms, 120s, 2m")->capture_default_str();
  draining->callback([&] { chosen = [&](ctl::context& with) { return drain(with, given); }; });

  auto* reading = cli.add_subcommand("consume", "the records of a topic, by the Kafka protocol");
  reading->add_option("topic", given.topic, "TOPIC, or TOPIC:PARTITION")->required();
  reading->add_option("--bootstrap", given.bootstrap, "host:port of a broker's listener, or several by commas")
      ->envname("BRAIDCTL_BOOTSTRAP")
      ->capture_default_str();
  reading->add_option("--from", given.from, "earliest, latest, an offset, 2026-11-30T12:00:00Z, or how long ago: 10m")
      ->capture_default_str();
  reading->add_option("--max", given.max_records, "end after so many records")->check(CLI::NonNegativeNumber);
  reading->add_flag("--follow", given.follow, "wait for what comes, until it is interrupted");
  reading->callback([&] { chosen = [&](ctl::context& with) { return consume(with, given); }; });

  auto* segments = cli.add_subcommand("log", "segment files on disk")->fallthrough();
  segments->require_subcommand(1);
  auto* show =
      segments->add_subcommand("dump", "the batches of .log files of a stopped broker, and whether all is well");
  show->add_option("file", given.paths, "data.dir/.../NNN.log; its indexes are checked with it")->required();
  show->callback([&] { chosen = [&](ctl::context& with) { return ctl::dump_segments(with, given.paths); }; });

  auto* log = cli.add_subcommand("wal", "the write-ahead log on disk")->fallthrough();
  log->require_subcommand(1);
  auto* dump = log->add_subcommand("dump", "what a folder of it holds, without changing anything");
  dump->add_option("folder", given.path, "wal.dir/braid or wal.dir/metadata")->required();
  dump->callback([&] { chosen = [&](ctl::context& with) { return ctl::dump_wal(with, given.path); }; });

  auto* check = cli.add_subcommand("check-config", "read a broker's configuration as the broker would");
  check->add_option("file", given.path)->required();
  check->add_option("--set", given.sets, "key=value; wins over the file; may be given more than once");
  check->callback(
      [&] { chosen = [&](ctl::context& with) { return ctl::check_config(with, given.path, given.sets); }; });
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App cli{"Looks at a BraidMQ broker, changes it, and writes records.", "braidctl"};
  arguments given;
  action chosen;
  try {
    add_commands(cli, given, chosen);
    cli.parse(argc, argv);
    ctl::context with = make_context(given);
    return chosen(with);
  } catch (const CLI::ParseError& e) {
    return cli.exit(e) == 0 ? ctl::exit_good : ctl::exit_usage;
  } catch (const bad_usage& e) {
    std::cerr << "braidctl: " << e.words << std::endl;
    return ctl::exit_usage;
  }
}
