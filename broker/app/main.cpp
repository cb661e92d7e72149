// braid-broker: reads the configuration, runs a broker until SIGTERM or SIGINT, ends cleanly.
#include <csignal>
#include <ctime>
#include <iostream>

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

#include "app/log.hpp"
#include "app/process.hpp"
#include "config/config.hpp"

namespace {

using braidmq::app::process;

int fail(const braidmq::error& why) {
  std::cerr << "braid-broker: " << why.to_string() << std::endl;
  return EXIT_FAILURE;
}

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

// True when the broker serves; false when it was told to end before.
bool wait_until_ready(const process& broker, const sigset_t& signals) {
  constexpr timespec step{0, 20'000'000};
  std::vector<std::string> said;
  while (true) {
    const std::vector<std::string> missing = broker.readiness();
    if (missing.empty()) return true;
    if (missing != said) {
      for (const std::string& one : missing) spdlog::info("not ready: {}", one);
      said = missing;
    }
    if (sigtimedwait(&signals, nullptr, &step) > 0) return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App cli{"A message broker for every Kafka client."};
  std::string config_path;
  std::vector<std::string> overrides;
  bool print_defaults = false;
  cli.add_option("--config", config_path, "YAML file with the configuration");
  cli.add_option("--set", overrides, "key=value; wins over the file; may be given more than once");
  cli.add_flag("--print-defaults", print_defaults, "print all keys with their defaults as a YAML file");
  cli.set_version_flag("--version", BRAID_VERSION);
  CLI11_PARSE(cli, argc, argv);
  if (print_defaults) {
    std::cout << braidmq::config::print_defaults();
    return EXIT_SUCCESS;
  }
  const auto config = braidmq::config::load_config(config_path, overrides);
  if (!config) return fail(config.error());
  braidmq::app::set_up_log(config->log_level, config->log_format);

  // Signals are taken by this thread alone, in turn; a peer that goes away is an error of a write, not a signal.
  const sigset_t signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  auto broker = process::start(*config);
  if (!broker) return fail(broker.error());
  if (wait_until_ready(**broker, signals)) {
    std::cout << "braid-broker ready: kafka " << (*broker)->kafka_address() << ", admin http://"
              << (*broker)->admin_address() << std::endl;
    int signal = 0;
    sigwait(&signals, &signal);
    spdlog::info("signal {}: ending", signal);
  }
  (*broker)->stop();
  spdlog::info("ended");
  return EXIT_SUCCESS;
}
