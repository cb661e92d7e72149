// broker_bench: what a broker costs, over its sockets. It starts release brokers itself, of one shard each, and prints
// one table with the targets; 0 when everything could be measured, held or not.
#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>

#include "bench/broker/rows.hpp"

namespace {

using namespace braidmq::bench;

struct group {
  const char* name;
  row_function measure;
};
constexpr std::array<group, 7> groups = {{{"atomic", atomic_write},
                                          {"replicated", replicated_write},
                                          {"hops", atomic_write_hops},
                                          {"cpu", records_per_cpu_second},
                                          {"idle", idle_memory},
                                          {"many", many_partitions},
                                          {"checkpoints", acks_at_checkpoints}}};

bool is_wanted(const std::vector<std::string>& only, const char* name) {
  return only.empty() || std::ranges::find(only, name) != only.end();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App cli{"What a broker costs, over its sockets."};
  bench_options options{BROKER_PROGRAM, BENCH_DATA, SYSCALL_LOG};
  std::string json;
  std::vector<std::string> only;
  bool strict = false;
  cli.add_option("--broker", options.program, "program of the broker")->check(CLI::ExistingFile)->capture_default_str();
  cli.add_option("--data", options.folder, "folder for its data, on the file system to be measured; needs 6 GB")
      ->capture_default_str();
  cli.add_option("--json", json, "also write the table to this file");
  std::vector<std::string> names;
  for (const group& one : groups) names.emplace_back(one.name);
  cli.add_option("--only", only, "only these groups of rows")->check(CLI::IsMember(names));
  cli.add_flag("--strict", strict, "end with 1 when a target is missed");
  CLI11_PARSE(cli, argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  std::filesystem::create_directories(options.folder);
  options.folder = std::filesystem::canonical(options.folder).string();
  options.program = std::filesystem::canonical(options.program).string();

  report made;
  made.where = describe_host(options.folder);
  made.build = options.program == BROKER_PROGRAM ? BENCH_BUILD : options.program;
  made.load_before = load_average();
  int code = EXIT_SUCCESS;
  for (const group& one : groups) {
    if (!is_wanted(only, one.name)) continue;
    std::cerr << "measuring: " << one.name << std::endl;
    auto rows = one.measure(options);
    if (rows) {
      for (const row& shown : *rows) std::cerr << "  " << shown.what << ": " << shown.measured << std::endl;
      std::ranges::move(*rows, std::back_inserter(made.rows));
    } else {
      std::cerr << one.name << ": " << rows.error().to_string() << std::endl;
      code = EXIT_FAILURE;
    }
  }
  made.load_after = load_average();
  std::cout << to_table(made);
  if (!json.empty()) {
    if (const auto written = write_json(made, json); !written) {
      std::cerr << written.error().to_string() << std::endl;
      code = EXIT_FAILURE;
    }
  }
  if (strict && made.missed() > 0) code = EXIT_FAILURE;
  return code;
}
