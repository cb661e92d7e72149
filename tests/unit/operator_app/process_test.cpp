// The end of the process, against an API server that takes requests and says nothing.
#include "operator_app/process.hpp"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/k8s/fake_api_server.hpp"

namespace braidmq::operator_app {
namespace {

using namespace std::chrono_literals;
using k8s::testing::received_request;
using k8s::testing::server_connection;
using nlohmann::json;

class process_test : public ::testing::Test {
 protected:
  process_test() {
    std::signal(SIGPIPE, SIG_IGN);
    std::string pattern = (std::filesystem::temp_directory_path() / "process-test-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    server_ = std::make_unique<k8s::testing::fake_api_server>(
        authority_.issue("IP:127.0.0.1"), [this](const auto& request, auto& connection) { act(request, connection); });
    std::ofstream(folder_ + "/ca.crt") << authority_.pem();
    std::ofstream(folder_ + "/config") << fmt::format(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u, namespace: n}}}}]\n"
        "clusters: [{{name: k, cluster: {{server: 'https://127.0.0.1:{}', certificate-authority: ca.crt}}}}]\n"
        "users: [{{name: u, user: {{token: t}}}}]\n",
        server_->port());
    given_.kubeconfig = folder_ + "/config";
    given_.http = {"127.0.0.1", 0};
    given_.instance = "op-0";
    given_.lease_namespace = "n";
    given_.lease_name = "op";
  }
  ~process_test() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  // Everything but the Lease waits for ever; the Lease does too once it is silent.
  void act(const received_request& request, server_connection& connection) {
    if (silent_ || request.path().find("/leases") == std::string::npos) {
      if (request.path().find(held_) != std::string::npos || silent_) return connection.wait_for_client();
      return connection.respond(200, R"({"metadata": {"resourceVersion": "1"}, "items": []})");
    }
    const std::lock_guard lock(mutex_);
    if (request.method == "GET" && lease_.is_null()) return connection.respond(404, "{}");
    if (request.method == "POST") lease_ = json::parse(request.body);
    if (request.method == "PATCH") lease_["spec"] = json::parse(request.body).back().at("value");
    if (request.method != "GET") lease_["metadata"]["resourceVersion"] = std::to_string(++version_);
    connection.respond(200, lease_.dump());
  }
  std::string holder() {
    const std::lock_guard lock(mutex_);
    return lease_.is_null() ? "" : lease_["spec"]["holderIdentity"].get<std::string>();
  }
  bool wait_for_request(const std::string& method, const std::string& part) {
    for (std::size_t seen = 0;; ++seen) {
      if (!server_->wait_for_requests(seen + 1)) return false;
      const auto one = server_->requests().at(seen);
      if (one.method == method && one.target.find(part) != std::string::npos) return true;
    }
  }
  io::duration stop(process& running) {
    const auto began = io::system_clock().now();
    running.stop();
    return io::system_clock().now() - began;
  }

  k8s::testing::certificate_authority authority_{"test-ca"};
  std::string folder_;
  std::atomic<bool> silent_{false};
  std::string held_ = "/";  // paths that contain this get no answer
  std::mutex mutex_;
  json lease_;
  int version_ = 0;
  std::unique_ptr<k8s::testing::fake_api_server> server_;
  options given_;
};

TEST_F(process_test, ends_soon_though_lists_get_no_answer_and_gives_the_lease_free) {
  auto running = process::start(given_);
  ASSERT_TRUE(running) << running.error().to_string();
  ASSERT_TRUE(wait_for_request("POST", "/leases"));
  ASSERT_TRUE(wait_for_request("GET", "/topics"));
  EXPECT_LT(stop(**running), 6s);
  EXPECT_EQ(holder(), "");
}

// What duties ask for must not keep the signal from being heard, nor the end waiting.
TEST_F(process_test, ends_soon_though_a_duty_gets_no_answer) {
  held_ = "customresourcedefinitions";
  auto running = process::start(given_);
  ASSERT_TRUE(running) << running.error().to_string();
  ASSERT_TRUE(wait_for_request("GET", "customresourcedefinitions"));
  EXPECT_LT(stop(**running), 6s);
  EXPECT_EQ(holder(), "");
}

TEST_F(process_test, ends_soon_though_nothing_gets_an_answer) {
  auto running = process::start(given_);
  ASSERT_TRUE(running) << running.error().to_string();
  ASSERT_TRUE(wait_for_request("POST", "/leases"));
  silent_ = true;
  EXPECT_LT(stop(**running), 10s);
}

}  // namespace
}  // namespace braidmq::operator_app
