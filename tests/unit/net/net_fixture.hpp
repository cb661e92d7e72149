// A connection over a pipe, its peer, and a handler that keeps every request until the test answers it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/endian.hpp"
#include "net/connection.hpp"
#include "net/errc.hpp"
#include "support/manual_loop.hpp"
#include "support/pipe_stream.hpp"

namespace braidmq::net {

struct held_request {
  std::string frame;
  unique_function<void()> accepted;
  unique_function<void(result<answer>)> respond;
};

class holding_handler final : public frame_handler {
 public:
  status look(const connection_info& /*connection*/, byte_view start, std::size_t frame_bytes) override {
    looks.emplace_back(start.size(), frame_bytes);
    if (refuse_large) return fail(errc::dropped, "refused by its start");
    return {};
  }
  void handle(const std::shared_ptr<connection_info>& connection, bytes frame, unique_function<void()> accepted,
              unique_function<void(result<answer>)> respond) override {
    last_info = connection;
    if (keep_frames) kept.push_back(frame);
    requests.push_back({std::string(as_string_view(frame)), std::move(accepted), std::move(respond)});
    if (accept_at_once) requests.back().accepted();
    if (echo) requests.back().respond(answer(std::vector<bytes>{frame}));
  }

  bool accept_at_once = true;
  bool echo = false;
  bool keep_frames = false;
  bool refuse_large = false;
  std::vector<std::pair<std::size_t, std::size_t>> looks;  // bytes that were there, bytes of the frame
  std::vector<bytes> kept;
  std::deque<held_request> requests;
  std::shared_ptr<connection_info> last_info;
};

inline bytes framed(std::string_view payload) {
  byte_buffer out;
  out.append_be(static_cast<std::int32_t>(payload.size()));
  out.append(payload);
  return out.freeze();
}

inline answer answer_of(std::string_view text) {
  return answer(std::vector<bytes>{bytes::copy_of(text)});
}

// The client's end: collects what comes and cuts it into frames.
class peer {
 public:
  explicit peer(std::unique_ptr<testing::pipe_stream> stream) : stream_(std::move(stream)) {}

  void send(bytes data) {
    outgoing_.push_back(std::move(data));
    send_next();
  }
  // Reads until the end of the stream.
  void read_all() {
    stream_->read_some(target_, [this](result<std::size_t> count) {
      if (!count) {
        ended = true;
        return;
      }
      ++reads;
      received += as_string_view(byte_view(target_).first(*count));
      read_all();
    });
  }
  void vanish() { stream_.reset(); }
  void close() { stream_->close(); }
  std::size_t unread_bytes() const { return stream_->unread_bytes(); }
  bool all_sent() const { return outgoing_.empty() && !sending_; }

  std::vector<std::string> frames() const {
    std::vector<std::string> all;
    std::string_view rest = received;
    while (rest.size() >= 4) {
      const auto size = static_cast<std::size_t>(load_be<std::int32_t>(as_byte_view(rest).data()));
      if (rest.size() < 4 + size) break;
      all.emplace_back(rest.substr(4, size));
      rest.remove_prefix(4 + size);
    }
    return all;
  }

  std::string received;
  std::size_t reads = 0;  // that brought something
  bool ended = false;
  bool send_failed = false;

 private:
  void send_next() {
    if (sending_ || outgoing_.empty()) return;
    sending_ = true;
    std::vector<bytes> parts{std::move(outgoing_.front())};
    outgoing_.pop_front();
    stream_->write(std::move(parts), [this](status written) {
      sending_ = false;
      if (!written) {
        send_failed = true;
        outgoing_.clear();
        return;
      }
      send_next();
    });
  }

  std::vector<std::byte> target_ = std::vector<std::byte>(64 * 1024);
  std::deque<bytes> outgoing_;
  bool sending_ = false;
  std::unique_ptr<testing::pipe_stream> stream_;
};

class connection_fixture : public ::testing::Test {
 protected:
  ~connection_fixture() override { loop.run_ready(); }

  void open(const connection_limits& limits = {}, const testing::pipe_options& options = {}) {
    auto ends = testing::make_pipe(loop, options);
    client = std::make_unique<peer>(std::move(ends.first));
    auto info = std::make_shared<connection_info>();
    info->id = 1;
    info->remote = ends.second->remote();
    server = std::make_shared<connection>(context, std::move(ends.second), info, limits, handler,
                                          [this](const connection_info&, close_cause why, const std::string& words) {
                                            ++closes;
                                            cause = why;
                                            reason = words;
                                          });
    server->start();
    loop.run_ready();
  }
  void send(bytes data) {
    client->send(std::move(data));
    loop.run_ready();
  }
  void read_all() {
    client->read_all();
    loop.run_ready();
  }

  testing::manual_loop loop;
  connection_context context{loop, loop, loop};
  holding_handler handler;
  std::unique_ptr<peer> client;
  std::shared_ptr<connection> server;
  int closes = 0;
  std::optional<close_cause> cause;
  std::string reason;
};

}  // namespace braidmq::net
