// A server with the fake backend on the loopback, and ways to speak to it: as a good client, and byte by byte.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <httplib.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "admin/http_server.hpp"
#include "admin/metrics.hpp"
#include "fake_backend.hpp"

namespace braidmq::admin {

inline const std::string good_secret = "0123456789abcdef0123456789abcdef";

// A socket without manners.
class raw_client {
 public:
  explicit raw_client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const timeval patience{20, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  raw_client(raw_client&& other) noexcept : socket_(std::exchange(other.socket_, -1)), connected_(other.connected_) {}
  ~raw_client() {
    if (socket_ >= 0) ::close(socket_);
  }

  bool connected() const { return connected_; }
  // False when the peer has closed.
  bool send(const std::string& text) const {
    std::size_t at = 0;
    while (at < text.size()) {
      const ssize_t sent = ::send(socket_, text.data() + at, text.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) return false;
      at += static_cast<std::size_t>(sent);
    }
    return true;
  }
  // All that comes until the peer closes.
  std::string read_all() const {
    std::string all;
    char part[4096];
    ssize_t got = 0;
    while ((got = ::recv(socket_, part, sizeof part, 0)) > 0) all.append(part, static_cast<std::size_t>(got));
    return all;
  }
  std::string ask(const std::string& request) const { return send(request), read_all(); }

 private:
  int socket_;
  bool connected_ = false;
};

class http_server_test : public ::testing::Test {
 protected:
  ~http_server_test() override {
    if (!secret_path_.empty()) std::filesystem::remove(secret_path_);
  }

  void write_secrets(const std::string& text) {
    if (secret_path_.empty()) {
      secret_path_ = std::filesystem::temp_directory_path() / ("braid-secrets-" + std::to_string(getpid()));
    }
    std::ofstream(secret_path_, std::ios::trunc) << text;
  }

  http_options options() {
    http_options made;
    made.listen = {"127.0.0.1", 0};
    made.not_ready = [this] {
      const std::scoped_lock lock(mutex_);
      return reasons_;
    };
    made.metrics.emplace_back([this] {
      if (throws_) throw std::runtime_error("secret of the inside");
      auto family = gauge_family("answer", "A test's figure");
      add_value(family, 42);
      return std::vector{family};
    });
    made.api = api_;
    made.secret_file = secret_path_.string();
    made.request_time = request_time_;
    return made;
  }

  void start() {
    auto started = http_server::start(options());
    ASSERT_TRUE(started.has_value()) << started.error().to_string();
    server_ = std::move(*started);
    client_ = std::make_unique<httplib::Client>("127.0.0.1", server_->port());
    client_->set_keep_alive(true);
  }

  struct said {
    int status = 0;
    nlohmann::json body;
    std::string text;
    httplib::Headers headers;
  };
  said ask(const std::string& method, const std::string& path, const std::string& body = {},
           const std::string& token = good_secret) {
    httplib::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    if (!token.empty()) request.set_header("Authorization", "Bearer " + token);
    const auto answer = client_->send(request);
    if (!answer) {
      ADD_FAILURE() << method << " " << path << ": " << httplib::to_string(answer.error());
      return {};
    }
    return {answer->status, nlohmann::json::parse(answer->body, nullptr, false), answer->body, answer->headers};
  }
  raw_client raw() { return raw_client(server_->port()); }

  std::shared_ptr<fake_backend> api_ = std::make_shared<fake_backend>();
  std::filesystem::path secret_path_;
  std::mutex mutex_;
  std::vector<std::string> reasons_{"metadata: not loaded", "a \"quoted\"\nreason \xff"};
  std::atomic<bool> throws_{false};
  std::chrono::milliseconds request_time_{5000};
  std::unique_ptr<http_server> server_;
  std::unique_ptr<httplib::Client> client_;
};

}  // namespace braidmq::admin
