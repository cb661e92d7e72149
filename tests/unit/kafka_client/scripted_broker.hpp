// A port of the test's own that answers each frame with what a function says: the client's other side.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/endian.hpp"
#include "kafka_client/client.hpp"
#include "protocol/generated/api_versions.hpp"
#include "protocol/generated/metadata.hpp"
#include "protocol/generated/produce.hpp"
#include "protocol/message.hpp"

namespace braidmq::kafka_client {

// What goes back, and whether the connection stays.
struct scripted_answer {
  bytes data;
  bool keeps_open = true;
};

class scripted_broker {
 public:
  using handler = std::function<scripted_answer(const protocol::request_frame&)>;

  explicit scripted_broker(handler answer) : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~scripted_broker() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  scripted_broker(const scripted_broker&) = delete;
  scripted_broker& operator=(const scripted_broker&) = delete;

  io::endpoint at() const { return {"127.0.0.1", port_}; }

 private:
  // A thread for each connection: a client has one to its bootstrap broker and one to each leader.
  void serve() {
    std::vector<std::pair<int, std::thread>> connections;
    for (int connection = 0; (connection = ::accept(listener_, nullptr, nullptr)) >= 0;) {
      connections.emplace_back(connection, std::thread([this, connection] {
                                 while (answer_one(connection)) {
                                 }
                                 ::shutdown(connection, SHUT_RDWR);
                               }));
    }
    for (auto& [connection, thread] : connections) {
      ::shutdown(connection, SHUT_RDWR);
      thread.join();
      ::close(connection);
    }
  }

  static bool read_all(int from, std::byte* to, std::size_t size) {
    while (size > 0) {
      const ssize_t got = ::recv(from, to, size, 0);
      if (got <= 0) return false;
      to += got;
      size -= static_cast<std::size_t>(got);
    }
    return true;
  }

  bool answer_one(int connection) {
    std::array<std::byte, 4> length{};
    if (!read_all(connection, length.data(), length.size())) return false;
    std::vector<std::byte> block(static_cast<std::size_t>(load_be<std::int32_t>(length.data())));
    if (!read_all(connection, block.data(), block.size())) return false;
    const auto frame = protocol::decode_request_frame(bytes::take(std::move(block)));
    if (!frame) {
      ADD_FAILURE() << frame.error().to_string();
      return false;
    }
    const scripted_answer said = answer_(*frame);
    std::size_t sent = 0;
    while (sent < said.data.size()) {
      const ssize_t now = ::send(connection, said.data.data() + sent, said.data.size() - sent, MSG_NOSIGNAL);
      if (now <= 0) return false;
      sent += static_cast<std::size_t>(now);
    }
    return said.keeps_open;
  }

  handler answer_;
  int listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

template <class Response>
scripted_answer answer_with(const protocol::request_frame& to, const Response& body) {
  byte_buffer frame;
  const status written =
      protocol::encode_response_frame(frame, body, to.header.request_api_version, to.header.correlation_id);
  EXPECT_TRUE(written) << written.error().to_string();
  return {frame.freeze()};
}

// Speaks ApiVersions, Metadata and Produce as far as they have a schema; knows the topics that are set.
struct small_cluster {
  std::map<std::string, std::vector<std::int32_t>> leaders;  // of each partition of a topic
  bool has_atomic_produce = true;
  std::function<void(const protocol::produce_request&, protocol::produce_response&)> on_produce;
  std::uint16_t port = 0;  // of all brokers

  scripted_answer operator()(const protocol::request_frame& request) {
    switch (static_cast<protocol::api_key>(request.header.request_api_key)) {
      case protocol::api_key::api_versions:
        return answer_with(request, versions());
      case protocol::api_key::metadata:
        return answer_with(request, metadata(request));
      case protocol::api_key::produce:
        return answer_with(request, produced(request));
      default:
        ADD_FAILURE() << "asked for API " << request.header.request_api_key;
        return {{}, false};
    }
  }

  protocol::api_versions_response versions() const {
    protocol::api_versions_response said;
    said.api_keys = {{0, 3, 13}, {3, 0, 13}, {18, 0, 5}};
    if (has_atomic_produce) said.finalized_features.push_back({"braidmq.atomic.produce", 1, 1});
    return said;
  }

  protocol::metadata_response metadata(const protocol::request_frame& request) const {
    const auto asked = protocol::metadata_request::decode(request.body, request.header.request_api_version);
    protocol::metadata_response said;
    for (const std::int32_t id : {0, 1}) said.brokers.push_back({model::broker_id(id), "127.0.0.1", port, {}});
    EXPECT_FALSE(asked->allow_auto_topic_creation);
    for (const auto& topic : *asked->topics) {
      auto& one = said.topics.emplace_back();
      one.name = topic.name;
      const auto known = leaders.find(*topic.name);
      if (known == leaders.end()) {
        one.error_code = protocol::error_code::unknown_topic_or_partition;
        continue;
      }
      for (const std::int32_t leader : known->second) {
        auto& partition = one.partitions.emplace_back();
        partition.partition_index = model::partition_index(static_cast<std::int32_t>(one.partitions.size() - 1));
        partition.leader_id = model::broker_id(leader);
      }
    }
    return said;
  }

  protocol::produce_response produced(const protocol::request_frame& request) const {
    const auto asked = protocol::produce_request::decode(request.body, request.header.request_api_version);
    protocol::produce_response said;
    for (const auto& topic : asked->topic_data) {
      auto& answers = said.responses.emplace_back();
      answers.name = topic.name;
      for (const auto& one : topic.partition_data) {
        auto& answer = answers.partition_responses.emplace_back();
        answer.index = one.index;
        answer.base_offset = model::offset(100 + one.index.value());
      }
    }
    if (on_produce) on_produce(*asked, said);
    return said;
  }
};

}  // namespace braidmq::kafka_client
