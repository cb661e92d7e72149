#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "ctl_fixture.hpp"

namespace braidmq::ctl {
namespace {

class commands_test : public ctl_test {
 protected:
  commands_test() {
    broker_.topics = {{.name = "orders",
                       .id = "abc",
                       .partitions = 12,
                       .replication_factor = 1,
                       .configs = {{"max.message.bytes", "1000"}},
                       .created_index = 4,
                       .changed_index = 5},
                      {.name = "a", .id = "def", .partitions = 1, .replication_factor = 1, .configs = {}}};
    broker_.cluster = {.cluster_id = "kYz8",
                       .version = "0.1.0",
                       .broker_id = 0,
                       .controller_id = 0,
                       .metadata_index = 7,
                       .replication_factor = 1,
                       .brokers = {{.id = 0,
                                    .incarnation = "inc",
                                    .alive = true,
                                    .draining = false,
                                    .listeners = {{"PLAINTEXT", "h", 9092}, {"OUT", "::1", 1}},
                                    .rack = "east",
                                    .roles = {"controller", "replica"}},
                                   {.id = 1000,
                                    .incarnation = "x",
                                    .alive = true,
                                    .draining = true,
                                    .listeners = {},
                                    .rack = "",
                                    .roles = {}}},
                       .braids = {{.id = 0,
                                   .leader = -1,
                                   .term = 2,
                                   .commit_index = 9,
                                   .applied_index = 9,
                                   .visible_index = 8,
                                   .replicas = {0, 1000},
                                   .peers = {{.id = 0, .match_index = 9, .needs_snapshot = false},
                                             {.id = 1000, .match_index = 2, .needs_snapshot = true}}}}};
  }
};

TEST_F(commands_test, the_cluster_as_tables) {
  EXPECT_EQ(show_cluster(with_), exit_good);
  EXPECT_EQ(out_.str(),
            "CLUSTER  CONTROLLER  METADATA  REPLICATION  VERSION\n"
            "kYz8     0           7         1            0.1.0\n"
            "\n"
            "BROKER  STATE     ROLES               RACK  INCARNATION  LISTENERS\n"
            "0       alive     controller,replica  east  inc          PLAINTEXT://h:9092,OUT://[::1]:1\n"
            "1000    draining  -                   -     x            -\n"
            "\n"
            "BRAID  LEADER  TERM  COMMIT  APPLIED  VISIBLE  REPLICAS  MATCH\n"
            "0      none    2     9       9        8        0,1000    0:9,1000:2 (needs a snapshot)\n");
}

TEST_F(commands_test, topics_as_a_table) {
  EXPECT_EQ(list_topics(with_), exit_good);
  EXPECT_EQ(out_.str(),
            "NAME    PARTITIONS  REPLICATION  ID   CONFIGS\n"
            "orders  12          1            abc  max.message.bytes=1000\n"
            "a       1           1            def  -\n");
}

TEST_F(commands_test, everything_as_json) {
  with_.as = format::json;
  EXPECT_EQ(show_cluster(with_), exit_good);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["brokers"][1]["draining"], true);
  out_.str("");
  EXPECT_EQ(list_topics(with_), exit_good);
  EXPECT_EQ(nlohmann::json::parse(out_.str())[0]["configs"]["max.message.bytes"], "1000");
  out_.str("");
  EXPECT_EQ(get_topic(with_, "orders"), exit_good);
  EXPECT_EQ(nlohmann::json::parse(out_.str())["partitions"], 12);
  out_.str("");
  EXPECT_EQ(delete_topic(with_, "orders", std::nullopt), exit_good);
  EXPECT_EQ(out_.str(), "");
}

TEST_F(commands_test, changes_ask_the_broker) {
  EXPECT_EQ(create_topic(with_, {.name = "orders", .partitions = 3}), exit_good);
  EXPECT_EQ(alter_topic(with_, {.name = "orders", .id = "abc"}), exit_good);
  EXPECT_EQ(delete_topic(with_, "orders", "abc"), exit_good);
  EXPECT_EQ(broker_.asked, (std::vector<std::string>{"create orders 3", "change orders abc", "delete orders abc"}));
  EXPECT_NE(out_.str().find("topic orders is deleted\n"), std::string::npos);
}

TEST_F(commands_test, a_refusal_is_one_line_and_exit_code_1) {
  broker_.failure = error{make_error_code(errc::topic_already_exists), "topic 'orders' exists with id abc"};
  EXPECT_EQ(create_topic(with_, {.name = "orders"}), exit_refused);
  EXPECT_EQ(show_cluster(with_), exit_refused);
  EXPECT_EQ(list_topics(with_), exit_refused);
  EXPECT_EQ(get_topic(with_, "orders"), exit_refused);
  EXPECT_EQ(delete_topic(with_, "orders", std::nullopt), exit_refused);
  EXPECT_EQ(out_.str(), "");
  const std::string line = "braidctl: topic 'orders' exists with id abc: topic exists\n";
  EXPECT_EQ(err_.str(), line + line + line + line + line);
}

TEST_F(commands_test, what_a_broker_says_cannot_command_the_terminal) {
  broker_.topics = {{.name = "a", .id = "i", .configs = {{"k", "\x1b[2Jv\n"}}}};
  EXPECT_EQ(list_topics(with_), exit_good);
  EXPECT_NE(out_.str().find("k=\\x1b[2Jv\\x0a\n"), std::string::npos) << out_.str();
}

TEST_F(commands_test, checks_a_configuration_as_the_broker_reads_it) {
  const auto path = std::filesystem::temp_directory_path() / ("braidctl-" + std::to_string(getpid()) + ".yaml");
  std::ofstream(path) << "data.dir: /d\nbroker.id: 3\n";
  EXPECT_EQ(check_config(with_, path.string(), {"braid.broker.id.offset=1000"}), exit_good);
  EXPECT_EQ(out_.str(), path.string() + " is a configuration of broker 1003\n");
  EXPECT_EQ(check_config(with_, path.string(), {"brokr.id=1"}), exit_refused);
  EXPECT_EQ(err_.str(),
            "braidctl: --set brokr.id=1: there is no key \"brokr.id\"; did you mean \"broker.id\"?: unknown key\n");
  std::filesystem::remove(path);
  EXPECT_EQ(check_config(with_, path.string(), {}), exit_refused);
}

}  // namespace
}  // namespace braidmq::ctl
