#include "net/tcp_connect.hpp"

#include <utility>

#include <asio/connect.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <fmt/format.h>

#include "net/asio_stream.hpp"
#include "net/errc.hpp"

namespace braidmq::net {
namespace {

// One attempt; lives as long as an operation of it is under way.
struct attempt : std::enable_shared_from_this<attempt> {
  attempt(runtime::shard& on, io::endpoint to, unique_function<void(result<std::unique_ptr<io::stream>>)> callback)
      : shard(on), target(std::move(to)), resolver(on.context()), socket(on.context()), done(std::move(callback)) {}

  void start(io::duration timeout) {
    timer = shard.schedule(timeout, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->finish(fail(errc::timed_out, "connect to " + self->target.to_string()));
    });
    resolver.async_resolve(
        target.host, std::to_string(target.port),
        [self = shared_from_this()](const std::error_code& code, const asio::ip::tcp::resolver::results_type& found) {
          if (code) return self->fail_with(errc::bad_address, "cannot resolve", code);
          self->connect(found);
        });
  }

  void connect(const asio::ip::tcp::resolver::results_type& found) {
    if (!done) return;  // timed out meanwhile
    asio::async_connect(socket, found,
                        [self = shared_from_this()](const std::error_code& code, const asio::ip::tcp::endpoint&) {
                          if (code) return self->fail_with(errc::not_reachable, "cannot connect to", code);
                          if (self->done) self->finish(make_asio_stream(std::move(self->socket)));
                        });
  }

  void fail_with(errc code, std::string_view what, const std::error_code& cause) {
    finish(fail(code, fmt::format("{} {}: {}", what, target.to_string(), cause.message())));
  }

  void finish(result<std::unique_ptr<io::stream>> outcome) {
    shard.cancel(timer);
    auto callback = std::exchange(done, nullptr);
    if (!callback) return;
    if (!outcome) {
      std::error_code ignored;
      resolver.cancel();
      socket.close(ignored);
    }
    callback(std::move(outcome));
  }

  runtime::shard& shard;
  io::endpoint target;
  asio::ip::tcp::resolver resolver;
  asio::ip::tcp::socket socket;
  io::timer_id timer{0};
  unique_function<void(result<std::unique_ptr<io::stream>>)> done;
};

}  // namespace

void tcp_connect(runtime::shard& on, const io::endpoint& to, io::duration timeout,
                 unique_function<void(result<std::unique_ptr<io::stream>>)> done) {
  std::make_shared<attempt>(on, to, std::move(done))->start(timeout);
}

}  // namespace braidmq::net
