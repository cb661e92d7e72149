// Two ends of a byte stream in memory. Like a TCP connection it has a bounded buffer in each direction, delivers what
// was written in pieces of any size, gives what was written before the end and then errc::closed. Callbacks run on the
// given executor, never inside a call; those of a destroyed end are dropped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "io/executor.hpp"
#include "io/stream.hpp"

namespace braidmq::testing {

struct pipe_options {
  std::size_t buffer_bytes = std::size_t{256} * 1024;  // in flight, per direction; a write waits for room
  // How many bytes the next read delivers at most; a test's random source cuts the stream with it.
  std::function<std::size_t()> read_bytes = [] { return std::size_t{1} << 30U; };
  std::string first_name = "10.0.0.1:40000";  // what the second end sees as remote()
  std::string second_name = "10.0.0.2:9092";
};

namespace detail {

// One direction.
struct pipe_half {
  io::executor* executor = nullptr;
  pipe_options options;
  std::deque<std::byte> buffer;
  bool closed = false;  // by the writer: readers get the rest, then the end; by the reader: writers fail

  mutable_byte_view target;
  unique_function<void(result<std::size_t>)> on_read;
  std::vector<bytes> parts;  // of a write that waits for room
  std::size_t part_offset = 0;
  unique_function<void(status)> on_written;

  void take_written() {
    while (!parts.empty() && buffer.size() < options.buffer_bytes) {
      auto& part = parts.front();
      const auto count = std::min(part.size() - part_offset, options.buffer_bytes - buffer.size());
      buffer.insert(buffer.end(), part.data() + part_offset, part.data() + part_offset + count);
      part_offset += count;
      if (part_offset == part.size()) {
        parts.erase(parts.begin());
        part_offset = 0;
      }
    }
  }

  void deliver() {
    take_written();
    if (on_read && !buffer.empty()) {
      const auto count = std::min({buffer.size(), target.size(), std::max<std::size_t>(1, options.read_bytes())});
      const auto end = buffer.begin() + static_cast<std::ptrdiff_t>(count);
      std::copy(buffer.begin(), end, target.begin());
      buffer.erase(buffer.begin(), end);
      take_written();
      std::exchange(on_read, nullptr)(count);
    } else if (on_read && closed) {
      std::exchange(on_read, nullptr)(fail(io::errc::closed, "end of stream"));
    }
    if (on_written && parts.empty()) {
      std::exchange(on_written, nullptr)({});
    } else if (on_written && closed) {
      std::exchange(on_written, nullptr)(fail(io::errc::closed, "the other end is gone"));
    }
  }

  static void wake(const std::shared_ptr<pipe_half>& half) {
    half->executor->post([half] { half->deliver(); });
  }
};

}  // namespace detail

class pipe_stream final : public io::stream {
 public:
  pipe_stream(std::shared_ptr<detail::pipe_half> in, std::shared_ptr<detail::pipe_half> out, std::string remote)
      : in_(std::move(in)), out_(std::move(out)), remote_(std::move(remote)) {}
  ~pipe_stream() override {
    in_->on_read = nullptr;
    out_->on_written = nullptr;
    close();
  }

  void read_some(mutable_byte_view target, unique_function<void(result<std::size_t>)> done) override {
    BRAID_CHECK(!in_->on_read && !target.empty());
    in_->target = target;
    in_->on_read = std::move(done);
    detail::pipe_half::wake(in_);
  }

  void write(std::vector<bytes> parts, unique_function<void(status)> done) override {
    BRAID_CHECK(!out_->on_written);
    std::erase_if(parts, [](const bytes& part) { return part.empty(); });
    if (!out_->closed)
      out_->parts = std::move(parts);
    else
      out_->parts = {bytes::copy_of("x")};  // never taken: ends with closed
    out_->on_written = std::move(done);
    if (out_->closed) out_->options.buffer_bytes = 0;
    detail::pipe_half::wake(out_);
  }

  void close() override {
    // What this end did not read is lost; what it wrote in full is still delivered.
    in_->closed = true;
    in_->buffer.clear();
    in_->options.buffer_bytes = 0;
    out_->closed = true;
    out_->options.buffer_bytes = 0;
    detail::pipe_half::wake(in_);
    detail::pipe_half::wake(out_);
  }

  const std::string& remote() const override { return remote_; }

  // Bytes that the other end wrote and this one has not read; bytes that fit no more wait on the other side.
  std::size_t unread_bytes() const { return in_->buffer.size(); }

 private:
  std::shared_ptr<detail::pipe_half> in_;
  std::shared_ptr<detail::pipe_half> out_;
  std::string remote_;
};

struct pipe {
  std::unique_ptr<pipe_stream> first;
  std::unique_ptr<pipe_stream> second;
};

inline pipe make_pipe(io::executor& executor, const pipe_options& options = {}) {
  auto forth = std::make_shared<detail::pipe_half>();
  auto back = std::make_shared<detail::pipe_half>();
  for (const auto& half : {forth, back}) {
    half->executor = &executor;
    half->options = options;
  }
  return {std::make_unique<pipe_stream>(back, forth, options.second_name),
          std::make_unique<pipe_stream>(forth, back, options.first_name)};
}

}  // namespace braidmq::testing
