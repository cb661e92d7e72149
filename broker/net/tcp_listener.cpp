#include "net/tcp_listener.hpp"

#include <atomic>
#include <chrono>
#include <utility>

#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>
#include <fmt/format.h>

#include "net/asio_stream.hpp"
#include "net/errc.hpp"
#include "net/port_holder.hpp"
#include "net/resolve.hpp"

namespace braidmq::net {
namespace {

using asio::ip::tcp;

// Out of file descriptors: the waiting connection stays in the kernel's queue, and asking again at once would only
// spin.
constexpr auto accept_pause = std::chrono::milliseconds(100);

std::vector<runtime::shard*> all_of(runtime::shard_set& shards) {
  std::vector<runtime::shard*> all;
  for (std::size_t i = 0; i < shards.size(); ++i) all.push_back(&shards.at(i));
  return all;
}

}  // namespace

// The acceptor runs on the first shard. Callbacks there hold the state, so the listener may go at any time.
struct tcp_listener::state : std::enable_shared_from_this<tcp_listener::state> {
  state(io::endpoint at, std::vector<runtime::shard*> all, connected_callback callback)
      : wanted(std::move(at)),
        shards(std::move(all)),
        home(*shards.at(0)),
        acceptor(home.context()),
        on_connected(std::move(callback)) {}

  std::error_code bind(const tcp::endpoint& at) {
    std::error_code code;
    acceptor.open(at.protocol(), code);
    if (!code) acceptor.set_option(tcp::acceptor::reuse_address(true), code);
    if (!code && at.address().is_v6() && at.address().is_unspecified()) {
      acceptor.set_option(asio::ip::v6_only(false), code);
    }
    if (!code) acceptor.bind(at, code);
    return code;
  }

  // On the home shard, or before the shards run.
  status listen() {
    if (listening || stopped) return {};
    std::error_code code;
    acceptor.listen(asio::socket_base::max_listen_connections, code);
    if (code) return tl::unexpected(refusal(code));
    listening = true;
    return {};
  }

  error refusal(const std::error_code& code) const {
    if (code == asio::error::address_in_use) return address_in_use(wanted);
    return {make_error_code(errc::not_reachable),
            fmt::format("cannot listen on {}: {}", wanted.to_string(), code.message())};
  }

  void accept() {
    if (stopped) return;
    auto& target = *shards.at(next);
    next = (next + 1) % shards.size();
    acceptor.async_accept(target.context(),
                          [self = shared_from_this(), &target](const std::error_code& code, tcp::socket socket) {
                            self->on_accept(code, std::move(socket), target);
                          });
  }

  void on_accept(const std::error_code& code, tcp::socket socket, runtime::shard& target) {
    if (stopped || code == asio::error::operation_aborted) return;
    if (!code) {
      ++accepted;
      target.post([self = shared_from_this(), &target, socket = std::move(socket)]() mutable {
        if (!self->stopped) self->on_connected(target, make_asio_stream(std::move(socket)));
      });
      return accept();
    }
    if (code == asio::error::connection_aborted) return accept();  // the peer left the queue
    ++accept_errors;
    home.schedule(accept_pause, [self = shared_from_this()] { self->accept(); });
  }

  const io::endpoint wanted;
  const std::vector<runtime::shard*> shards;
  runtime::shard& home;
  tcp::acceptor acceptor;
  connected_callback on_connected;
  std::size_t next = 0;
  bool listening = false;
  std::atomic<bool> stopped{false};
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> accept_errors{0};
};

result<std::unique_ptr<tcp_listener>> tcp_listener::bind(const io::endpoint& at, runtime::shard_set& shards,
                                                         connected_callback on_connected) {
  return bind(at, all_of(shards), std::move(on_connected));
}

result<std::unique_ptr<tcp_listener>> tcp_listener::bind(const io::endpoint& at, std::vector<runtime::shard*> shards,
                                                         connected_callback on_connected) {
  BRAID_TRY(address, resolve_to_listen(at));
  auto made = std::make_shared<state>(at, std::move(shards), std::move(on_connected));
  if (const auto code = made->bind(address)) return tl::unexpected(made->refusal(code));
  return std::unique_ptr<tcp_listener>(new tcp_listener(made));
}

result<std::unique_ptr<tcp_listener>> tcp_listener::open(const io::endpoint& at, runtime::shard_set& shards,
                                                         connected_callback on_connected) {
  return open(at, all_of(shards), std::move(on_connected));
}

result<std::unique_ptr<tcp_listener>> tcp_listener::open(const io::endpoint& at, std::vector<runtime::shard*> shards,
                                                         connected_callback on_connected) {
  BRAID_TRY(listener, bind(at, std::move(shards), std::move(on_connected)));
  BRAID_TRY_VOID(listener->state_->listen());
  listener->state_->home.post([made = listener->state_] { made->accept(); });
  return std::move(listener);
}

void tcp_listener::listen(unique_function<void(status)> done) {
  state_->home.post([state = state_, done = std::move(done)]() mutable {
    const bool first = !state->listening;
    status listens = state->listen();
    if (listens && first) state->accept();
    done(std::move(listens));
  });
}

tcp_listener::tcp_listener(std::shared_ptr<state> of)
    : state_(std::move(of)), port_(state_->acceptor.local_endpoint().port()) {}

tcp_listener::~tcp_listener() {
  stop();
}

void tcp_listener::stop() {
  if (state_->stopped.exchange(true)) return;
  state_->home.post([state = state_] {
    std::error_code ignored;
    state->acceptor.close(ignored);
  });
}

listener_counters tcp_listener::counters() const {
  return {.accepted = state_->accepted, .accept_errors = state_->accept_errors};
}

}  // namespace braidmq::net
