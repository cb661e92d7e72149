// A client, and a scripted server for it to talk to, over real TLS.
#pragma once

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "k8s/http_client.hpp"
#include "k8s/list_page.hpp"
#include "support/k8s/atomic_clock.hpp"
#include "support/k8s/fake_api_server.hpp"
#include "unit/k8s/things.hpp"

namespace braidmq::k8s::testing {

using namespace std::chrono_literals;

class api_fixture : public ::testing::Test {
 protected:
  api_fixture() {
    std::signal(SIGPIPE, SIG_IGN);  // as every main that uses the client must
    std::string pattern = (std::filesystem::temp_directory_path() / "k8s-test-XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
    write_file("ca.crt", authority.pem());
    write_file("token", "first-token\n");
  }
  ~api_fixture() override {
    client.reset();
    server.reset();
    std::filesystem::remove_all(folder);
  }

  void write_file(const std::string& name, const std::string& content) const {
    std::ofstream(folder + "/" + name, std::ios::trunc) << content;
  }

  void start(fake_api_server::handler handler) {
    server = std::make_unique<fake_api_server>(authority.issue("IP:127.0.0.1"), std::move(handler));
    connect();
  }
  void connect() {
    client_config config;
    config.host = "127.0.0.1";
    config.port = server->port();
    config.ca_file = folder + "/ca.crt";
    config.token_file = folder + "/token";
    client = std::make_unique<http_client>(config, options, clock);
  }

  static errc code_of(const error& e) { return static_cast<errc>(e.code.value()); }
  static json thing(const std::string& name, int version = 1) {
    return {{"apiVersion", "example.io/v1"},
            {"kind", "Thing"},
            {"metadata",
             {{"name", name}, {"namespace", "n"}, {"uid", "u-" + name}, {"resourceVersion", std::to_string(version)}}}};
  }
  static std::string event(const char* type, const json& object) {
    return json{{"type", type}, {"object", object}}.dump();
  }
  static std::string status_object(int code, const std::string& reason, const std::string& message) {
    return json{{"kind", "Status"},   {"apiVersion", "v1"}, {"status", "Failure"},
                {"message", message}, {"reason", reason},   {"code", code}}
        .dump();
  }
  static std::string list_of(std::vector<json> items, const std::string& version, const std::string& token = "") {
    json list = {{"kind", "ThingList"}, {"apiVersion", "example.io/v1"}, {"metadata", {{"resourceVersion", version}}}};
    list["items"] = std::move(items);
    if (!token.empty()) list["metadata"]["continue"] = token;
    return list.dump();
  }

  const object_key a{"n", "a"};
  certificate_authority authority{"test-ca"};
  std::string folder;
  atomic_clock clock;
  http_client_options options{.deadline = 5s, .first_retry = 1ms, .last_retry = 10ms};
  std::unique_ptr<fake_api_server> server;
  std::unique_ptr<http_client> client;
};

}  // namespace braidmq::k8s::testing
