#include "world/network.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace braidmq::sim {

class server_stream final : public io::stream {
 public:
  explicit server_stream(std::shared_ptr<link> of)
      : link_(std::move(of)), remote_(fmt::format("10.0.0.1:{}", 10'000 + link_->id_)) {}

  ~server_stream() override {
    link_->on_read_ = nullptr;
    link_->on_written_ = nullptr;
    close();
    link_->server_ = nullptr;
  }

  void read_some(mutable_byte_view target, unique_function<void(result<std::size_t>)> done) override {
    BRAID_CHECK(!link_->on_read_ && !target.empty());
    link_->read_target_ = target;
    link_->on_read_ = std::move(done);
    link_->server_->post([of = link_] { of->serve_reader(); });
  }

  void write(std::vector<bytes> parts, unique_function<void(status)> done) override {
    BRAID_CHECK(!link_->on_written_);
    link_->on_written_ = std::move(done);
    if (!link_->to_client_.writer_closed && !link_->client_gone_) {
      for (const bytes& part : parts) {
        link_->to_client_.flying.insert(link_->to_client_.flying.end(), part.view().begin(), part.view().end());
      }
      link_->move(false);
    }
    link_->server_->post([of = link_] { of->serve_writer(); });
  }

  void close() override {
    link_->to_client_.writer_closed = true;
    link_->to_server_.ended = true;
    link_->to_server_.flying.clear();
    link_->arrived_.clear();
    link_->move(false);
    if (link_->server_ == nullptr) return;
    link_->server_->post([of = link_] {
      of->serve_reader();
      of->serve_writer();
    });
  }

  const std::string& remote() const override { return remote_; }

 private:
  std::shared_ptr<link> link_;
  std::string remote_;
};

link::link(std::uint64_t id, sim_executor& network, sim_executor& client, sim_executor& server, trace& events,
           rng chance, const network_options& options)
    : id_(id),
      network_(network),
      client_(client),
      server_(&server),
      events_(events),
      chance_(chance),
      options_(options) {}

std::unique_ptr<io::stream> link::server_end() {
  return std::make_unique<server_stream>(shared_from_this());
}

void link::client_write(byte_view data) {
  if (client_gone_ || to_server_.writer_closed || to_server_.ended) return;
  to_server_.flying.insert(to_server_.flying.end(), data.begin(), data.end());
  move(true);
}

void link::client_close() {
  client_gone_ = true;
  to_server_.writer_closed = true;
  to_client_.flying.clear();
  move(true);
  on_data = nullptr;
  on_end = nullptr;
}

void link::cut() {
  lose_tail(to_server_);
  lose_tail(to_client_);
  to_server_.writer_closed = true;
  to_client_.writer_closed = true;
  move(true);
  move(false);
}

void link::lose_tail(direction& way) {
  if (!way.flying.empty()) way.flying.resize(chance_.below(way.flying.size() + 1));
}

void link::move(bool to_server) {
  direction& way = to_server ? to_server_ : to_client_;
  if (way.moving || way.ended || (way.flying.empty() && !way.writer_closed)) return;
  way.moving = true;
  auto go = [self = shared_from_this(), to_server] { self->deliver(to_server); };
  if (chance_.chance(options_.delay_chance)) {
    network_.schedule(io::duration(chance_.below(static_cast<std::uint64_t>(options_.longest_delay.count()))),
                      std::move(go));
  } else {
    network_.post(std::move(go));
  }
}

void link::deliver(bool to_server) {
  direction& way = to_server ? to_server_ : to_client_;
  way.moving = false;
  if (way.ended) return;
  const std::size_t size = std::min<std::size_t>(way.flying.size(), 1 + chance_.below(options_.largest_piece_bytes));
  const auto end = way.flying.begin() + static_cast<std::ptrdiff_t>(size);
  std::vector<std::byte> piece(way.flying.begin(), end);
  way.flying.erase(way.flying.begin(), end);
  events_.mix(event::frame, piece);
  if (way.flying.empty() && way.writer_closed) way.ended = true;
  if (to_server) {
    arrived_.insert(arrived_.end(), piece.begin(), piece.end());
    if (server_ != nullptr) server_->post([self = shared_from_this()] { self->serve_reader(); });
  } else {
    client_.post([self = shared_from_this(), piece = std::move(piece), last = way.ended] {
      self->arrive_at_client(piece, last);
    });
    if (server_ != nullptr) server_->post([self = shared_from_this()] { self->serve_writer(); });
  }
  move(to_server);
}

void link::arrive_at_client(byte_view piece, bool last) {
  if (!piece.empty() && on_data) {
    const auto call = on_data;
    call(piece);
  }
  if (last && on_end) {
    const auto call = on_end;
    call();
  }
}

void link::serve_reader() {
  if (!on_read_) return;
  if (!arrived_.empty()) {
    const std::size_t size = std::min(arrived_.size(), read_target_.size());
    const auto end = arrived_.begin() + static_cast<std::ptrdiff_t>(size);
    std::copy(arrived_.begin(), end, read_target_.begin());
    arrived_.erase(arrived_.begin(), end);
    std::exchange(on_read_, nullptr)(size);
  } else if (to_server_.ended) {
    std::exchange(on_read_, nullptr)(fail(io::errc::closed, "end of stream"));
  }
}

void link::serve_writer() {
  if (!on_written_) return;
  if (to_client_.writer_closed || client_gone_) {
    std::exchange(on_written_, nullptr)(fail(io::errc::closed, "the client is gone"));
  } else if (to_client_.flying.size() <= options_.buffer_bytes) {
    std::exchange(on_written_, nullptr)({});
  }
}

}  // namespace braidmq::sim
