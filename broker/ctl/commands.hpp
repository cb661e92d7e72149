// The commands of braidctl. Each prints to `out` what it was asked for and to `err` what went wrong, and returns the
// exit code of the program: exit_good, or exit_refused when the broker (or the configuration) says no or is not there.
#pragma once

#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "admin_client/admin_client.hpp"
#include "io/clock.hpp"
#include "kafka_client/consume.hpp"
#include "kafka_client/produce.hpp"

namespace braidmq::ctl {

inline constexpr int exit_good = 0;
inline constexpr int exit_refused = 1;
inline constexpr int exit_usage = 2;

enum class format { table, json };

struct context {
  std::ostream& out;
  std::ostream& err;
  // A client whose calls take so long at most.
  std::function<result<std::unique_ptr<admin_client::client>>(std::chrono::milliseconds)> connect;
  format as = format::table;
  // Waiting, so that tests need not.
  std::function<io::time_point()> now = [] { return io::system_clock().now(); };
  std::function<void(std::chrono::milliseconds)> sleep;
  std::istream& in = std::cin;
  // Writes records by the Kafka protocol: to a bootstrap list, these, atomically or not.
  std::function<result<std::vector<kafka_client::written_slice>>(
      const std::string&, const std::vector<kafka_client::outgoing_record>&, bool)>
      write;
};

inline constexpr std::chrono::milliseconds call_timeout = std::chrono::seconds(5);

int show_cluster(context& with);

int list_topics(context& with);
int get_topic(context& with, const std::string& name);
int create_topic(context& with, const admin_client::topic_creation& wanted);
int alter_topic(context& with, const admin_client::topic_change& wanted);
int delete_topic(context& with, const std::string& name, const std::optional<std::string>& id);

struct produce_order {
  std::string bootstrap;
  std::vector<kafka_client::outgoing_record> records;
  std::string file;  // more of them, one a line; "-": standard input; empty: none
  bool atomic = false;
};
// Writes all records, those of one leader in one request, and shows what became of each partition. exit_refused when
// anything was refused: who is to blame stands on `err`.
int produce(context& with, const produce_order& wanted);
// `name` stands before the line's number in errors.
result<std::vector<kafka_client::outgoing_record>> read_records(std::istream& from, const std::string& name);

// What a pod runs before it is stopped: never an obstacle, so it always returns exit_good, in bounded time, and at once
// when there is nothing to hand over or nobody to ask. One line on `out` for each step.
int drain(context& with, std::chrono::milliseconds timeout);

struct consume_arguments {
  std::string bootstrap;  // "host:port,host:port"
  kafka_client::consume_options what;
  std::optional<std::uint64_t> max_records;
};
// Prints records as they are read, one line each; as JSON one document a line. Ends with the last record that was there
// at the beginning, or never when it follows.
int consume(context& with, const consume_arguments& wanted);

// Shows the batches of segment files (.log) of a stopped broker, one line each, and holds the indexes beside them
// against them; as JSON one document a line. exit_refused when a file is damaged or cannot be read.
int dump_segments(context& with, const std::vector<std::string>& paths);

// Shows the files and group writes of a write-ahead log's folder, one line for each; as JSON, one document a line. With
// damage: all that is before it, and exit_refused.
int dump_wal(context& with, const std::string& folder);

// Reads a broker's configuration as the broker would.
int check_config(context& with, const std::string& path, const std::vector<std::string>& overrides);

}  // namespace braidmq::ctl
