#include "net/asio_stream.hpp"

#include <span>
#include <utility>

#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/write.hpp>

#include "base/check.hpp"
#include "io/endpoint.hpp"

namespace braidmq::net {
namespace {

error to_error(const std::error_code& code) {
  const bool gone = code == asio::error::eof || code == asio::error::operation_aborted ||
                    code == asio::error::connection_reset || code == asio::error::broken_pipe ||
                    code == asio::error::bad_descriptor || code == asio::error::not_connected;
  return {make_error_code(gone ? io::errc::closed : io::errc::device_error), code.message()};
}

std::string remote_of(const asio::ip::tcp::socket& socket) {
  std::error_code code;
  const auto peer = socket.remote_endpoint(code);
  if (code) return "unknown:0";  // gone before we looked
  auto address = peer.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  return io::endpoint{.host = address.to_string(), .port = peer.port()}.to_string();
}

// What the operating system's operations refer to; they may end after the stream is gone.
struct connection_state {
  explicit connection_state(asio::ip::tcp::socket from) : socket(std::move(from)) {}

  asio::ip::tcp::socket socket;
  unique_function<void(result<std::size_t>)> on_read;
  unique_function<void(status)> on_written;
  std::vector<bytes> parts;
  std::vector<asio::const_buffer> buffers;
};

class asio_stream final : public io::stream {
 public:
  explicit asio_stream(asio::ip::tcp::socket socket)
      : remote_(remote_of(socket)), state_(std::make_shared<connection_state>(std::move(socket))) {
    std::error_code ignored;  // a peer that is gone already shows at the first read
    state_->socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    state_->socket.native_non_blocking(true, ignored);
  }

  ~asio_stream() override {
    auto on_read = std::exchange(state_->on_read, nullptr);
    auto on_written = std::exchange(state_->on_written, nullptr);
    close();
  }

  asio_stream(const asio_stream&) = delete;
  asio_stream& operator=(const asio_stream&) = delete;

  void read_some(mutable_byte_view target, unique_function<void(result<std::size_t>)> done) override {
    BRAID_CHECK(!state_->on_read, "two reads of one stream");
    state_->on_read = std::move(done);
    state_->socket.async_read_some(asio::buffer(target.data(), target.size()),
                                   [state = state_](const std::error_code& code, std::size_t count) {
                                     auto on_read = std::exchange(state->on_read, nullptr);
                                     if (!on_read) return;
                                     if (code) return on_read(tl::unexpected(to_error(code)));
                                     on_read(count);
                                   });
  }

  void write(std::vector<bytes> parts, unique_function<void(status)> done) override {
    BRAID_CHECK(!state_->on_written, "two writes of one stream");
    state_->on_written = std::move(done);
    state_->parts = std::move(parts);
    state_->buffers.clear();
    for (const auto& part : state_->parts) state_->buffers.emplace_back(part.data(), part.size());
    asio::async_write(state_->socket, std::span<const asio::const_buffer>(state_->buffers),
                      [state = state_](const std::error_code& code, std::size_t) {
                        state->parts.clear();
                        auto on_written = std::exchange(state->on_written, nullptr);
                        if (!on_written) return;
                        if (code) return on_written(tl::unexpected(to_error(code)));
                        on_written({});
                      });
  }

  void close() override {
    std::error_code ignored;
    state_->socket.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    state_->socket.close(ignored);
  }

  const std::string& remote() const override { return remote_; }

 private:
  std::string remote_;
  std::shared_ptr<connection_state> state_;
};

}  // namespace

std::unique_ptr<io::stream> make_asio_stream(asio::ip::tcp::socket socket) {
  return std::make_unique<asio_stream>(std::move(socket));
}

}  // namespace braidmq::net
