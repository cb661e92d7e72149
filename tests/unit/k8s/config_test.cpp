#include "k8s/config.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "k8s/errc.hpp"

namespace braidmq::k8s {
namespace {

class config_test : public ::testing::Test {
 protected:
  config_test() {
    std::string pattern = (std::filesystem::temp_directory_path() / "k8s-config-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    environment.service_account_folder = folder;
    environment.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
  }
  ~config_test() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder + "/" + name) << content;
    return folder + "/" + name;
  }
  void be_a_pod() {
    variables = {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
    write("token", "t");
    write("ca.crt", "pem");
    write("namespace", "kafka\n");
  }
  std::string refusal(const std::string& user, const std::string& cluster =
                                                   "server: https://h:6443, "
                                                   "certificate-authority-data: cGVt") {
    const auto got = kubeconfig(write("config",
                                      "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: "
                                      "u}}]\nclusters: [{name: k, cluster: {" +
                                          cluster + "}}]\nusers: [{name: u, user: {" + user + "}}]\n"));
    if (got) return "";
    EXPECT_EQ(got.error().code, make_error_code(errc::config));
    return got.error().message;
  }

  std::string folder;
  config_environment environment;
  std::map<std::string, std::string> variables;
};

TEST_F(config_test, a_pod_names_address_token_ca_and_namespace) {
  be_a_pod();
  const auto config = load_config(environment);
  ASSERT_TRUE(config) << config.error().to_string();
  EXPECT_EQ(config->host, "10.0.0.1");
  EXPECT_EQ(config->port, 443);
  EXPECT_EQ(config->token_file, folder + "/token");
  EXPECT_EQ(config->ca_file, folder + "/ca.crt");
  EXPECT_EQ(config->namespace_name, "kafka");
}

TEST_F(config_test, an_ipv6_address_may_come_with_brackets_or_without) {
  be_a_pod();
  for (const char* host : {"fd00::1", "[fd00::1]"}) {
    variables["KUBERNETES_SERVICE_HOST"] = host;
    EXPECT_EQ(in_cluster_config(environment)->host, "fd00::1");
  }
}

TEST_F(config_test, a_pod_without_a_token_is_told_why) {
  be_a_pod();
  std::filesystem::remove(folder + "/token");
  EXPECT_NE(in_cluster_config(environment).error().message.find("automountServiceAccountToken"), std::string::npos);
  variables["KUBERNETES_SERVICE_PORT"] = "44300000";
  EXPECT_NE(in_cluster_config(environment).error().message.find("no port"), std::string::npos);
  variables.clear();
  EXPECT_NE(in_cluster_config(environment).error().message.find("not in a pod"), std::string::npos);
}

TEST_F(config_test, a_kubeconfig_with_inline_certificates) {
  variables["KUBECONFIG"] = write("config", R"(
apiVersion: v1
current-context: dev
contexts:
- {name: other, context: {cluster: nowhere}}
- {name: dev, context: {cluster: local, user: admin, namespace: mine}}
clusters:
- name: local
  cluster: {server: "https://[fd00::2]:6443/prefix/", certificate-authority-data: "Y2EgcGVt"}
users:
- name: admin
  user: {client-certificate-data: Y2VydA==, client-key: key.pem}
)");
  write("key.pem", "the key");
  const auto config = load_config(environment);
  ASSERT_TRUE(config) << config.error().to_string();
  EXPECT_EQ(config->host, "fd00::2");
  EXPECT_EQ(config->port, 6443);
  EXPECT_EQ(config->path_prefix, "/prefix");
  EXPECT_EQ(config->ca_pem, "ca pem");
  EXPECT_EQ(config->client_certificate_pem, "cert");
  EXPECT_EQ(config->client_key_pem, "the key");
  EXPECT_EQ(config->namespace_name, "mine");
}

// 4.1: a host with a trailing dot is refused by TLS's SNI.
TEST_F(config_test, a_trailing_dot_is_taken_off_the_host) {
  const auto got = kubeconfig(write("config",
                                    "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
                                    "clusters: [{name: k, cluster: {server: 'https://api.example.com.:1', "
                                    "certificate-authority-data: cGVt}}]\n"));
  ASSERT_TRUE(got) << got.error().to_string();
  EXPECT_EQ(got->host, "api.example.com");
}

TEST_F(config_test, what_is_not_supported_is_refused_in_words) {
  EXPECT_EQ(refusal("token: abc"), "");
  EXPECT_NE(refusal("exec: {command: aws}").find("plugin"), std::string::npos);
  EXPECT_NE(refusal("auth-provider: {name: gcp}").find("plugin"), std::string::npos);
  EXPECT_NE(refusal("username: a, password: b").find("password"), std::string::npos);
  EXPECT_NE(refusal("client-key-data: cGVt").find("one is missing"), std::string::npos);
  EXPECT_NE(refusal("client-key-data: '!!!!'").find("base64"), std::string::npos);
  EXPECT_NE(refusal("", "server: https://h, insecure-skip-tls-verify: true").find("refused"), std::string::npos);
  EXPECT_NE(refusal("", "server: https://h").find("certificate-authority"), std::string::npos);
  EXPECT_NE(refusal("", "server: 'ftp://h'").find("no http"), std::string::npos);
  EXPECT_NE(refusal("", "server: 'https://h:99999'").find("no port"), std::string::npos);
  EXPECT_NE(refusal("", "server: https://h, certificate-authority-data: cGVt, proxy-url: 'http://p'").find("proxy-url"),
            std::string::npos);
}

TEST_F(config_test, broken_files_are_errors) {
  for (const char* content : {"", "[]", "a: [", "current-context: x", "contexts: 7\ncurrent-context: x", "- - -"}) {
    const auto got = kubeconfig(write("config", content));
    ASSERT_FALSE(got) << content;
    EXPECT_EQ(got.error().code, make_error_code(errc::config));
  }
  EXPECT_FALSE(kubeconfig(folder + "/absent"));
  variables = {{"KUBECONFIG", "/a:/b"}};
  EXPECT_NE(load_config(environment).error().message.find("several"), std::string::npos);
  variables.clear();
  EXPECT_FALSE(load_config(environment));
}

}  // namespace
}  // namespace braidmq::k8s
