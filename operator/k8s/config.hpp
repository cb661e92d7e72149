// Where the API server is and how to prove who we are: from a pod's environment, or from a kubeconfig on a developer's
// machine. Errors: errc::config, with words that say what is missing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace braidmq::k8s {

struct client_config {
  std::string host;  // a name or an address, IPv6 without brackets
  std::uint16_t port = 443;
  bool tls = true;  // false: plain HTTP, as `kubectl proxy` serves it; only from a kubeconfig
  std::string path_prefix;

  // Files are read anew as they rotate; the texts are for what a kubeconfig holds inline.
  std::string ca_file;
  std::string ca_pem;
  std::string token_file;
  std::string token;
  std::string client_certificate_pem;
  std::string client_key_pem;

  std::string namespace_name = "default";  // the pod's, or the context's
};

// Injected for tests.
struct config_environment {
  std::function<std::optional<std::string>(const std::string& name)> variable;
  std::string service_account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};
config_environment process_environment();

// A pod: KUBERNETES_SERVICE_HOST and _PORT, the service account's token, CA and namespace.
result<client_config> in_cluster_config(const config_environment& environment);

// The current context of a kubeconfig. Refused in words: exec plugins and auth providers, passwords, proxies,
// skipping the check of certificates.
result<client_config> kubeconfig(const std::string& path, const std::string& context = "");

// In a pod the pod's; else $KUBECONFIG (one file), else ~/.kube/config.
result<client_config> load_config(const config_environment& environment);

}  // namespace braidmq::k8s
