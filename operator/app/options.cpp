#include "operator_app/options.hpp"

#include <cstdlib>
#include <iostream>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace braidmq::operator_app {
namespace {

std::string variable(const char* name, std::string fallback) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::move(fallback) : value;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? std::string(name) : std::string("braid-operator");
}

// "15s", "2m" or bare seconds.
std::string read_seconds(std::chrono::seconds& target, const std::string& text) {
  char* end = nullptr;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  const std::string unit = end;
  const long long factor = unit.empty() || unit == "s" ? 1 : (unit == "m" ? 60 : 0);
  if (end == text.c_str() || factor == 0 || number < 1 || number > 86'400)
    return "must be a time like 15s, from 1s to 1440m";
  target = std::chrono::seconds(number * factor);
  return {};
}

void add_seconds(CLI::App& cli, const std::string& name, std::chrono::seconds& target, const std::string& words) {
  cli.add_option_function<std::string>(
      name,
      [&target, name](const std::string& text) {
        if (const auto wrong = read_seconds(target, text); !wrong.empty()) throw CLI::ValidationError(name, wrong);
      },
      words + " (default " + std::to_string(target.count()) + "s)");
}

void check(const options& read, bool all_namespaces) {
  if (all_namespaces && !read.namespaces.empty())
    throw CLI::ValidationError("--all-namespaces", "excludes --namespace: leave one of them out");
  if (read.broker_image.empty()) throw CLI::ValidationError("--broker-image", "must name the image of the brokers");
  if (read.elect && !(read.lease_duration > read.renew_deadline && read.renew_deadline > read.retry_period)) {
    throw CLI::ValidationError("--lease-duration", "must be above --renew-deadline, and that above --retry-period");
  }
}

}  // namespace

std::optional<options> read_options(int argc, char** argv, int& exit_code) {
  options read;
  read.own_namespace = variable("POD_NAMESPACE", "");
  read.instance = variable("POD_NAME", host_name());
  bool all_namespaces = false;
  std::string http = "0.0.0.0:8080";
  CLI::App cli{"Runs BraidMQ clusters on Kubernetes."};
  cli.add_option("--namespace,--namespaces", read.namespaces,
                 "namespaces to work in, by commas or given again (default: its own)")
      ->delimiter(',');
  cli.add_flag("--all-namespaces", all_namespaces, "work in all namespaces");
  cli.add_option("--broker-image", read.broker_image, "image of brokers whose BraidCluster names none")
      ->envname("BRAID_BROKER_IMAGE");
  cli.add_option("--cluster-domain", read.cluster_domain, "domain of the Kubernetes cluster")
      ->default_val("cluster.local");
  cli.add_option("--http-address,--metrics-listen", http,
                 "where /metrics, /healthz and /readyz are served (default " + http + ")");
  cli.add_option("--initial-objects,--bootstrap-configmap", read.initial_objects,
                 "ConfigMap in its own namespace with BraidMQ objects to apply");
  cli.add_option("--leader-elect", read.elect, "wait for a Lease before writing anything")->default_val(true);
  cli.add_option("--lease-namespace", read.lease_namespace, "namespace of the Lease (default: its own)");
  cli.add_option("--lease-name", read.lease_name, "name of the Lease")->default_val("braidmq-operator");
  add_seconds(cli, "--lease-duration", read.lease_duration, "after so long without a renewal another may lead");
  add_seconds(cli, "--renew-deadline", read.renew_deadline, "a leader that could not renew for so long ends");
  add_seconds(cli, "--retry-period", read.retry_period, "time between two tries to get or renew the Lease");
  cli.add_option("--kubeconfig", read.kubeconfig,
                 "for development: a kubeconfig file (default: as a pod, else $KUBECONFIG)");
  cli.add_option("--log-level", read.log_level, "trace, debug, info, warn, error or off")
      ->default_val("info")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}));
  cli.add_option("--log-format", read.log_format, "text or json")
      ->default_val("text")
      ->check(CLI::IsMember({"text", "json"}));
  cli.set_version_flag("--version", BRAID_VERSION);
  try {
    cli.parse(argc, argv);
    check(read, all_namespaces);
  } catch (const CLI::ParseError& why) {
    exit_code = cli.exit(why);
    return std::nullopt;
  }
  auto address = io::parse_endpoint(http);
  if (!address) {
    std::cerr << "--http-address: " << address.error().to_string() << std::endl;
    exit_code = EXIT_FAILURE;
    return std::nullopt;
  }
  read.http = std::move(*address);
  if (!all_namespaces && read.namespaces.empty()) read.namespaces = {read.own_namespace};
  if (read.lease_namespace.empty()) read.lease_namespace = read.own_namespace;
  return read;
}

}  // namespace braidmq::operator_app
