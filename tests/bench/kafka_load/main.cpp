// kafka_load KIND: one load on a cluster that speaks Kafka's protocol, whichever it is; prints what came of it as JSON.
// The topics exist already. tests/bench/peers.py puts such figures side by side.
#include <csignal>
#include <iostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "bench/kafka_load/loads.hpp"

namespace {

using namespace braidmq;
using namespace braidmq::bench;

nlohmann::json to_json(const rate& of) {
  return {{"records_per_second", static_cast<double>(of.counted) / seconds(of.over)}, {"sent", of.sent}};
}

nlohmann::json to_json(latencies& of) {
  return {{"p50_ms", milliseconds(of.each.at(0.5))},
          {"p99_ms", milliseconds(of.each.at(0.99))},
          {"most_ms", milliseconds(of.each.at(1))},
          {"count", of.each.size()},
          {"sent", of.sent}};
}

template <class Figures>
int print(result<Figures> made) {
  if (!made) {
    std::cerr << made.error().to_string() << '\n';
    return EXIT_FAILURE;
  }
  std::cout << to_json(*made) << '\n';
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App cli{"One load on a cluster that speaks Kafka's protocol."};
  load_options options;
  double warm_up_s = 0;
  double lasts_s = 10;
  std::string second_topic;
  cli.require_subcommand(1);
  cli.add_option("--bootstrap", options.bootstrap, "HOST:PORT,...; of atomic: the leader")->required();
  cli.add_option("--topic", options.topic)->required();
  cli.add_option("--partitions", options.partitions, "that are written to")->capture_default_str();
  cli.add_option("--record-bytes", options.record_bytes)->capture_default_str();
  cli.add_option("--warm-up", warm_up_s, "seconds that do not count")->capture_default_str();
  cli.add_option("--seconds", lasts_s)->capture_default_str();
  auto* throughput = cli.add_subcommand("throughput", "as many records as go through")->fallthrough();
  auto* latency = cli.add_subcommand("latency", "one record after the other, to partition 0")->fallthrough();
  auto* atomic =
      cli.add_subcommand("atomic", "atomic writes of BraidMQ to two topics, one after the other")->fallthrough();
  atomic->add_option("--second-topic", second_topic)->required();
  CLI11_PARSE(cli, argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  options.warm_up = std::chrono::milliseconds(static_cast<std::int64_t>(warm_up_s * 1000));
  options.lasts = std::chrono::milliseconds(static_cast<std::int64_t>(lasts_s * 1000));
  if (throughput->parsed()) return print(as_many_as_possible(options));
  if (latency->parsed()) return print(one_by_one(options));
  return print(atomic_one_by_one(options, second_topic));
}
