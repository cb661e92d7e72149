#include "k8s/config.hpp"

#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "k8s/errc.hpp"
#include "k8s/small_file.hpp"

namespace braidmq::k8s {

config_environment process_environment() {
  return {.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }};
}

result<client_config> in_cluster_config(const config_environment& environment) {
  const auto host = environment.variable("KUBERNETES_SERVICE_HOST");
  const auto port = environment.variable("KUBERNETES_SERVICE_PORT");
  if (!host || host->empty() || !port) {
    return fail(errc::config, "not in a pod: KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set");
  }
  client_config config;
  config.host = *host;
  // The variable has a bare address; some set it by hand and write brackets.
  if (config.host.size() > 2 && config.host.front() == '[' && config.host.back() == ']') {
    config.host = config.host.substr(1, config.host.size() - 2);
  }
  const auto [end, problem] = std::from_chars(port->data(), port->data() + port->size(), config.port);
  if (problem != std::errc() || end != port->data() + port->size() || config.port == 0) {
    return fail(errc::config, fmt::format("KUBERNETES_SERVICE_PORT is no port: \"{}\"", *port));
  }
  const std::string& folder = environment.service_account_folder;
  config.token_file = folder + "/token";
  config.ca_file = folder + "/ca.crt";
  const auto token = read_small_file(config.token_file);
  if (!token) {
    return fail(errc::config, token.error().message + "; is automountServiceAccountToken off for this pod?");
  }
  BRAID_TRY(ca, read_small_file(config.ca_file));
  if (ca.empty()) return fail(errc::config, config.ca_file + " is empty");
  const auto name = read_small_file(folder + "/namespace");
  if (name && !trimmed(*name).empty()) config.namespace_name = trimmed(*name);
  return config;
}

result<client_config> load_config(const config_environment& environment) {
  if (environment.variable("KUBERNETES_SERVICE_HOST")) return in_cluster_config(environment);
  if (const auto path = environment.variable("KUBECONFIG"); path && !path->empty()) {
    if (path->find(':') != std::string::npos) {
      return fail(errc::config, "KUBECONFIG names several files; give one (kubectl config view --flatten makes it)");
    }
    return kubeconfig(*path);
  }
  const auto home = environment.variable("HOME");
  if (!home) return fail(errc::config, "neither in a pod nor is KUBECONFIG or HOME set");
  return kubeconfig(*home + "/.kube/config");
}

}  // namespace braidmq::k8s
