#include "config/config.hpp"

#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <unistd.h>

namespace braidmq::config {
namespace {

result<broker_config> parse(std::string_view text, const std::vector<std::string>& overrides = {}) {
  return parse_config(text, "broker.yaml", overrides);
}

TEST(config, defaults_are_kafkas_and_only_data_dir_must_be_given) {
  const auto c = parse("data.dir: /data\n");
  ASSERT_TRUE(c.has_value()) << c.error().to_string();
  EXPECT_EQ(c->broker_id, 0);
  EXPECT_EQ(c->data_dir, "/data");
  EXPECT_EQ(c->wal_dir, "/data/wal");
  EXPECT_EQ(c->listeners, (std::vector<listener>{{"PLAINTEXT", {"127.0.0.1", 9092}}}));
  EXPECT_EQ(c->advertised_listeners, c->listeners);
  EXPECT_EQ(c->admin_listener, (io::endpoint{"127.0.0.1", 9644}));
  EXPECT_EQ(c->num_partitions, 1);
  EXPECT_FALSE(c->auto_create_topics);  // Kafka's is true
  EXPECT_EQ(c->message_max_bytes, 1048588);
  EXPECT_EQ(c->socket_request_max_bytes, 104857600);
  EXPECT_EQ(c->fetch_max_bytes, 57671680);
  EXPECT_EQ(c->fetch_session_slots, 1000);
  EXPECT_EQ(c->connections_max_idle_ms, 600000);
  EXPECT_EQ(c->log_segment_bytes, 1073741824);
  EXPECT_EQ(c->log_index_interval_bytes, 4096);
  EXPECT_EQ(c->log_message_timestamp_type, "CreateTime");
  EXPECT_EQ(c->linger_ms, 0);
  EXPECT_EQ(c->shards, 0);
  EXPECT_EQ(c->log_level, "info");
}

TEST(config, reads_every_form_of_value) {
  const auto c = parse(
      "# a comment\n"
      "data.dir: \"/d a t a\"\n"
      "wal.dir: /wal\n"
      "broker.id: 7\n"
      "auto.create.topics.enable: true\n"
      "listeners:\n"
      "  - PLAINTEXT://127.0.0.1:0\n"
      "  - INTERNAL://127.0.0.1:9094\n"
      "log.format: json\n"
      "cluster.id:\n");
  ASSERT_TRUE(c.has_value()) << c.error().to_string();
  EXPECT_EQ(c->data_dir, "/d a t a");
  EXPECT_EQ(c->wal_dir, "/wal");
  EXPECT_EQ(c->broker_id, 7);
  EXPECT_TRUE(c->auto_create_topics);
  EXPECT_EQ(c->listeners.size(), 2U);
  EXPECT_EQ(c->log_format, "json");
  EXPECT_EQ(c->cluster_id, "");
}

TEST(config, errors_say_where_what_and_what_is_allowed) {
  const struct {
    const char* text;
    errc code;
    const char* words;  // the message begins with it
  } cases[] = {
      {"data.dir: /d\nlog.segment.byte: 5\n", errc::unknown_key,
       "broker.yaml:2:1: there is no key \"log.segment.byte\"; did you mean \"log.segment.bytes\"?"},
      {"entirely.different.thing: 5\n", errc::unknown_key,
       "broker.yaml:1:1: there is no key \"entirely.different.thing\""},
      {"broker.id: 1\ndata.dir: /d\nbroker.id: 1\n", errc::duplicate_key,
       "broker.yaml:3:1: broker.id was given before at broker.yaml:1:1"},
      {"data.dir: /d\nnum.partitions:   many\n", errc::bad_value,
       "broker.yaml:2:19: num.partitions: \"many\": must be a whole number from 1 to 100000"},
      {"num.partitions: 0\n", errc::bad_value, "broker.yaml:1:17: num.partitions: \"0\": must be"},
      {"num.partitions: 3.5\n", errc::bad_value, "broker.yaml:1:17: num.partitions: \"3.5\": must be"},
      {"num.partitions: 010\n", errc::bad_value, "broker.yaml:1:17: num.partitions: \"010\": must be"},
      {"num.partitions: 99999999999999999999\n", errc::bad_value, "broker.yaml:1:17: num.partitions"},
      {"message.max.bytes: 1MiB\n", errc::bad_value,
       "broker.yaml:1:20: message.max.bytes: \"1MiB\": must be a whole number from 1 to 1073741824 (bytes)"},
      {"auto.create.topics.enable: yes\n", errc::bad_value,
       "broker.yaml:1:28: auto.create.topics.enable: \"yes\": must be true or false"},
      {"log.level: loud\n", errc::bad_value,
       "broker.yaml:1:12: log.level: \"loud\": must be one of trace|debug|info|warn|error|off"},
      {"log:\n  level: info\n", errc::unknown_key, "broker.yaml:1:1: there is no key \"log\""},
      {"num.partitions:\n  value: 1\n", errc::bad_value, "broker.yaml:2:3: num.partitions: needs one value"},
      {"num.partitions: [1, 2]\n", errc::bad_value, "broker.yaml:1:17: num.partitions: needs one value"},
      {"num.partitions:\n", errc::bad_value, "broker.yaml:1:1: num.partitions: \"\": must be"},
      {"- data.dir\n", errc::not_readable, "broker.yaml:1:1: needs lines of the form"},
      {"data.dir: [unclosed\n", errc::not_readable, "broker.yaml:"},
      {"data.dir: /d\n---\ndata.dir: /e\n", errc::not_readable, "broker.yaml:3:1: a second document"},
      {"", errc::bad_value, "data.dir must be given"},
      {"data.dir: /d\nmessage.max.bytes: 2000\nbraid.entry.max.bytes: 1024\n", errc::bad_value,
       "message.max.bytes (2000) must not exceed braid.entry.max.bytes (1024)"},
      {"data.dir: /d\nlisteners: 127.0.0.1:9092\n", errc::bad_value, "listeners: listener \"127.0.0.1:9092\""},
      {"data.dir: /d\nlisteners: PLAINTEXT://0.0.0.0:9092\n", errc::bad_value,
       "advertised.listeners: clients cannot connect to PLAINTEXT://0.0.0.0:9092"},
      {"data.dir: /d\nbraid.advertised.pushed: NODEPORT\n", errc::bad_value,
       "braid.advertised.pushed: \"NODEPORT\" is not in listeners"},
      {"data.dir: /d\ncluster.id: mine\n", errc::bad_value, "cluster.id 'mine' is not an id"},
      {"braid.bootstrap: again\n", errc::bad_value,
       "broker.yaml:1:18: braid.bootstrap: \"again\": must be one of initial|existing"},
      {"data.dir: /d\nbroker.id: 2147483647\nbraid.broker.id.offset: 1\n", errc::bad_value,
       "broker.id (2147483647) and braid.broker.id.offset (1) are 2147483647 or less together"},
  };
  for (const auto& one : cases) {
    const auto parsed = parse(one.text);
    ASSERT_FALSE(parsed.has_value()) << one.text;
    EXPECT_EQ(parsed.error().code, one.code) << one.text << parsed.error().to_string();
    EXPECT_TRUE(parsed.error().message.starts_with(one.words)) << parsed.error().message;
  }
  const auto admin = parse("data.dir: /d\nadmin.listener: nowhere\n");
  ASSERT_FALSE(admin.has_value());
  EXPECT_TRUE(admin.error().message.starts_with("admin.listener: \"nowhere\"")) << admin.error().message;
}

TEST(config, overrides_win_and_are_as_strict) {
  const auto c = parse("data.dir: /d\nbroker.id: 1\n", {"broker.id=2", "broker.id=3", "data.dir=/x=y"});
  ASSERT_TRUE(c.has_value());
  EXPECT_EQ(c->broker_id, 3);
  EXPECT_EQ(c->data_dir, "/x=y");
  EXPECT_EQ(parse("data.dir: /d", {"broker.ids=2"}).error().message,
            "--set broker.ids=2: there is no key \"broker.ids\"; did you mean \"broker.id\"?");
  EXPECT_EQ(parse("data.dir: /d", {"broker.id"}).error().message, "--set broker.id: needs the form key=value");
  EXPECT_TRUE(parse("data.dir: /d", {"broker.id=-1"}).error().message.starts_with("--set broker.id=-1: broker.id"));
}

TEST(config, what_a_pod_needs) {
  const auto c = parse(
      "data.dir: /d\n"
      "listeners: [\"PLAINTEXT://:9092\", \"NODEPORT://:9095\", \"OTHER://:9096\"]\n"
      "advertised.listeners: PLAINTEXT://pod-1.svc:9092\n"
      "braid.advertised.pushed: [NODEPORT, OTHER]\n"
      "braid.broker.id.offset: 1000\n"
      "braid.bootstrap: existing\n",
      {"broker.id=2"});
  ASSERT_TRUE(c.has_value()) << c.error().to_string();
  EXPECT_EQ(c->broker_id, 1002);
  EXPECT_EQ(c->bootstrap, "existing");
  EXPECT_EQ(c->advertised_listeners, (std::vector<listener>{{"PLAINTEXT", {"pod-1.svc", 9092}}}));
  EXPECT_EQ(c->pushed_listeners, (std::vector<std::string>{"NODEPORT", "OTHER"}));
}

TEST(check_values, finds_everything_that_is_wrong) {
  EXPECT_TRUE(check_values({}).empty());
  EXPECT_TRUE(check_values({{"num.partitions", "3"}, {"log.level", "debug"}}).empty());
  const auto many = check_values({{"num.partition", "3"}, {"log.level", "loud"}, {"broker.id", "1"}});
  ASSERT_EQ(many.size(), 2U);
  EXPECT_EQ(many[0].key, "log.level");
  EXPECT_EQ(many[0].code, errc::bad_value);
  EXPECT_EQ(many[0].words, "log.level: \"loud\": must be one of trace|debug|info|warn|error|off");
  EXPECT_EQ(many[1].key, "num.partition");
  EXPECT_EQ(many[1].code, errc::unknown_key);
  EXPECT_EQ(many[1].words, "there is no key \"num.partition\"; did you mean \"num.partitions\"?");
  const auto together = check_values({{"message.max.bytes", "2000"}, {"braid.entry.max.bytes", "1024"}});
  ASSERT_EQ(together.size(), 1U);
  EXPECT_EQ(together[0].key, "");
  EXPECT_TRUE(together[0].words.starts_with("message.max.bytes (2000) must not exceed")) << together[0].words;
}

TEST(config, printed_defaults_read_back_as_the_defaults) {
  const auto printed = print_defaults();
  const auto c = parse(printed, {"data.dir=/d"});
  ASSERT_TRUE(c.has_value()) << c.error().to_string() << "\n" << printed;
  const auto plain = parse("", {"data.dir=/d"});
  EXPECT_EQ(c->message_max_bytes, plain->message_max_bytes);
  EXPECT_EQ(c->listeners, plain->listeners);
  EXPECT_EQ(c->log_message_timestamp_before_max_ms, plain->log_message_timestamp_before_max_ms);
  EXPECT_NE(printed.find("# Largest record batch (bytes, 1 to 1073741824).\nmessage.max.bytes: 1048588\n"),
            std::string::npos)
      << printed;
}

TEST(config, loads_a_file_and_says_when_it_is_not_there) {
  const auto path = std::filesystem::temp_directory_path() / ("braid-config-" + std::to_string(getpid()) + ".yaml");
  std::ofstream(path) << "data.dir: /d\nbroker.id: x\n";
  const auto bad = load_config(path.string(), {});
  ASSERT_FALSE(bad.has_value());
  EXPECT_TRUE(bad.error().message.starts_with(path.string() + ":2:12: ")) << bad.error().message;
  EXPECT_TRUE(load_config(path.string(), {"data.dir=/e"}).error().code == errc::bad_value);
  std::ofstream(path) << std::string(2 * 1024 * 1024, '#');
  EXPECT_EQ(load_config(path.string(), {}).error().code, errc::not_readable);
  std::filesystem::remove(path);
  EXPECT_EQ(load_config(path.string(), {}).error().code, errc::not_readable);
  EXPECT_TRUE(load_config("", {"data.dir=/d"}).has_value());
}

// Damaged files end in an error or a config, never in an exception or a crash.
TEST(config, survives_any_damage) {
  const std::string good =
      "data.dir: /d\nlisteners:\n  - PLAINTEXT://127.0.0.1:9092\nbroker.id: 5\nlog.level: \"info\"\n";
  std::mt19937 random(42);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    auto text = good;
    for (auto edits = random() % 4 + 1; edits > 0; --edits) {
      constexpr std::string_view alphabet = "{}[]&*!|>%@`\"'#:-?, \n\t\0\xffz0";
      text[random() % text.size()] = alphabet[random() % alphabet.size()];
    }
    if (!parse(text)) ++refused;
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace braidmq::config
