#include <charconv>

#include <fmt/format.h>
#include <openssl/evp.h>
#include <yaml-cpp/yaml.h>

#include "k8s/config.hpp"
#include "k8s/errc.hpp"
#include "k8s/small_file.hpp"

namespace braidmq::k8s {
namespace {

std::string text(const YAML::Node& node, const char* name) {
  const YAML::Node value = node[name];
  return value && value.IsScalar() ? value.Scalar() : std::string();
}

// clusters, contexts and users are lists of {name, <kind>: {...}}.
result<YAML::Node> entry(const YAML::Node& root, const char* list, const char* kind, const std::string& name) {
  for (const YAML::Node& item : root[list]) {
    if (text(item, "name") == name && item[kind] && item[kind].IsMap()) return YAML::Node(item[kind]);
  }
  return fail(errc::config, fmt::format("no {} \"{}\" in {}", kind, name, list));
}

result<std::string> decode_base64(const std::string& encoded) {
  if (encoded.size() % 4 != 0) return fail(errc::config, "base64 of odd length");
  std::string decoded(encoded.size() / 4 * 3, '\0');
  const int written =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(decoded.data()),
                      reinterpret_cast<const unsigned char*>(encoded.data()), static_cast<int>(encoded.size()));
  if (written < 0) return fail(errc::config, "not base64");
  std::size_t padding = 0;  // EVP_DecodeBlock counts it as bytes
  while (padding < 2 && padding < encoded.size() && encoded[encoded.size() - 1 - padding] == '=') ++padding;
  decoded.resize(static_cast<std::size_t>(written) - padding);
  return decoded;
}

std::string beside(const std::string& config_path, const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  const auto slash = config_path.rfind('/');
  return slash == std::string::npos ? path : config_path.substr(0, slash + 1) + path;
}

// NAME-data holds it in base64, NAME a path. Empty when neither is there.
result<std::string> material(const YAML::Node& node, const std::string& name, const std::string& config_path) {
  if (const std::string inline_data = text(node, (name + "-data").c_str()); !inline_data.empty()) {
    auto decoded = decode_base64(inline_data);
    if (!decoded) return tl::unexpected(with_context(decoded.error(), name + "-data"));
    return decoded;
  }
  const std::string file = text(node, name.c_str());
  if (file.empty()) return std::string();
  return read_small_file(beside(config_path, file));
}

status read_server(const std::string& url, client_config& config) {
  const auto scheme_end = url.find("://");
  const std::string scheme = url.substr(0, scheme_end);
  if (scheme_end == std::string::npos || (scheme != "https" && scheme != "http")) {
    return fail(errc::config, fmt::format("the cluster's server is no http or https address: \"{}\"", url));
  }
  config.tls = scheme == "https";
  config.port = config.tls ? 443 : 80;
  std::string rest = url.substr(scheme_end + 3);
  if (const auto slash = rest.find('/'); slash != std::string::npos) {
    config.path_prefix = rest.substr(slash);
    while (!config.path_prefix.empty() && config.path_prefix.back() == '/') config.path_prefix.pop_back();
    rest.resize(slash);
  }
  std::string port;
  if (!rest.empty() && rest.front() == '[') {
    const auto close = rest.find(']');
    if (close == std::string::npos) return fail(errc::config, fmt::format("no ] in \"{}\"", url));
    config.host = rest.substr(1, close - 1);
    if (close + 1 < rest.size() && rest[close + 1] == ':') port = rest.substr(close + 2);
  } else {
    const auto colon = rest.rfind(':');
    config.host = rest.substr(0, colon);
    if (colon != std::string::npos) port = rest.substr(colon + 1);
  }
  if (!port.empty()) {
    const auto [end, problem] = std::from_chars(port.data(), port.data() + port.size(), config.port);
    if (problem != std::errc() || end != port.data() + port.size() || config.port == 0) {
      return fail(errc::config, fmt::format("no port: \"{}\"", port));
    }
  }
  // A name with a dot at its end is refused by TLS (SNI).
  while (!config.host.empty() && config.host.back() == '.') config.host.pop_back();
  if (config.host.empty()) return fail(errc::config, fmt::format("no host in \"{}\"", url));
  return {};
}

status read_cluster(const YAML::Node& cluster, const std::string& path, client_config& config) {
  BRAID_TRY_VOID(read_server(text(cluster, "server"), config));
  if (text(cluster, "insecure-skip-tls-verify") == "true") {
    return fail(errc::config, "insecure-skip-tls-verify is refused: name the cluster's certificate-authority");
  }
  for (const char* unsupported : {"proxy-url", "tls-server-name"}) {
    if (!text(cluster, unsupported).empty()) return fail(errc::config, fmt::format("{} is not supported", unsupported));
  }
  BRAID_TRY(ca, material(cluster, "certificate-authority", path));
  config.ca_pem = ca;
  if (config.tls && ca.empty()) {
    return fail(errc::config, "the cluster has neither certificate-authority nor certificate-authority-data");
  }
  return {};
}

status read_user(const YAML::Node& user, const std::string& path, client_config& config) {
  if (user["exec"] || user["auth-provider"]) {
    return fail(errc::config,
                "the user's credentials come from a plugin (exec or auth-provider), which this program does not run; "
                "make a token with `kubectl create token SERVICEACCOUNT` and a user that holds it");
  }
  if (user["username"] || user["password"]) return fail(errc::config, "user name and password are not supported");
  BRAID_TRY(certificate, material(user, "client-certificate", path));
  BRAID_TRY(key, material(user, "client-key", path));
  if (certificate.empty() != key.empty()) {
    return fail(errc::config, "client-certificate and client-key belong together, one is missing");
  }
  config.client_certificate_pem = certificate;
  config.client_key_pem = key;
  config.token = text(user, "token");
  if (const std::string file = text(user, "tokenFile"); !file.empty()) config.token_file = beside(path, file);
  return {};
}

result<client_config> read(const std::string& content, const std::string& path, std::string context) {
  const YAML::Node root = YAML::Load(content);
  if (!root.IsMap()) return fail(errc::config, "no kubeconfig");
  if (context.empty()) context = text(root, "current-context");
  if (context.empty()) return fail(errc::config, "no current-context; choose one with `kubectl config use-context`");
  BRAID_TRY(chosen, entry(root, "contexts", "context", context));
  BRAID_TRY(cluster, entry(root, "clusters", "cluster", text(chosen, "cluster")));
  client_config config;
  BRAID_TRY_VOID(read_cluster(cluster, path, config));
  if (const std::string name = text(chosen, "user"); !name.empty()) {
    BRAID_TRY(user, entry(root, "users", "user", name));
    BRAID_TRY_VOID(read_user(user, path, config));
  }
  if (const std::string name = text(chosen, "namespace"); !name.empty()) config.namespace_name = name;
  return config;
}

}  // namespace

result<client_config> kubeconfig(const std::string& path, const std::string& context) {
  BRAID_TRY(content, read_small_file(path));
  try {
    auto config = read(content, path, context);
    if (!config) return tl::unexpected(with_context(config.error(), path));
    return config;
  } catch (const YAML::Exception& e) {
    return fail(errc::config, fmt::format("{}: {}", path, e.what()));
  }
}

}  // namespace braidmq::k8s
