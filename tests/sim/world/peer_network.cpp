#include "world/peer_network.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/check.hpp"

namespace braidmq::sim {
namespace {

constexpr std::string_view host_prefix = "broker-";
constexpr io::duration look_again = std::chrono::milliseconds(50);  // whether a stall is over, for a connect

std::optional<std::size_t> machine_of(const io::endpoint& at) {
  std::size_t number = 0;
  if (!at.host.starts_with(host_prefix)) return std::nullopt;
  const char* const end = at.host.data() + at.host.size();
  const auto read = std::from_chars(at.host.data() + host_prefix.size(), end, number);
  return read.ptr == end && read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

io::endpoint peer_endpoint(std::size_t machine, std::uint16_t port) {
  return {fmt::format("{}{}", host_prefix, machine), port};
}

// One connection; both ends own it.
class peer_link : public std::enable_shared_from_this<peer_link> {
 public:
  struct side {
    std::size_t machine = 0;
    sim_executor* executor = nullptr;  // null: its life is over, or it has let go of its end
    std::deque<std::byte> arrived;
    mutable_byte_view target;
    unique_function<void(result<std::size_t>)> on_read;
    unique_function<void(status)> on_written;
    // What this side writes:
    std::deque<std::byte> flying;
    bool closed = false;  // nothing more is written
    bool ended = false;   // nothing more arrives at the other side
    bool moving = false;
  };

  peer_link(peer_network& network, side opener, side taker)
      : network_(network), sides_{std::move(opener), std::move(taker)} {}

  std::unique_ptr<io::stream> end(std::size_t which);

  side& of(std::size_t which) { return sides_[which]; }
  side& other(std::size_t which) { return sides_[1 - which]; }

  void move(std::size_t from) {
    side& way = sides_[from];
    if (dead_ || way.moving || way.ended || (way.flying.empty() && !way.closed)) return;
    if (network_.is_stalled(way.machine, other(from).machine)) return;
    way.moving = true;
    auto go = [self = shared_from_this(), from] { self->deliver(from); };
    const network_options& options = network_.options_;
    if (network_.chance_.chance(options.delay_chance)) {
      const auto longest = static_cast<std::uint64_t>(options.longest_delay.count());
      network_.network_.schedule(io::duration(network_.chance_.below(longest)), std::move(go));
    } else {
      network_.network_.post(std::move(go));
    }
  }

  void wake(std::size_t which) {
    if (sides_[which].executor == nullptr) return;
    sides_[which].executor->post([self = shared_from_this(), which] {
      self->serve_reader(which);
      self->serve_writer(which);
    });
  }

  void cut() {
    for (side& one : sides_) {
      if (!one.flying.empty()) one.flying.resize(network_.chance_.below(one.flying.size() + 1));
      one.closed = true;
    }
    move(0);
    move(1);
  }

  // The machine is there again and knows nothing of the connection; or it went with a word.
  void reset(std::size_t gone) {
    dead_ = true;
    for (side& one : sides_) {
      one.flying.clear();
      one.closed = one.ended = true;
    }
    wake(1 - gone);
  }
  void fall_silent() { dead_ = true; }
  bool touches(std::size_t machine, std::size_t& which) const {
    for (which = 0; which < 2; ++which) {
      if (sides_[which].machine == machine) return true;
    }
    return false;
  }

  void close(std::size_t which) {
    side& own = sides_[which];
    own.closed = true;
    own.arrived.clear();
    other(which).ended = true;
    other(which).closed = true;
    other(which).flying.clear();
    move(which);
    wake(which);
  }

 private:
  void deliver(std::size_t from) {
    side& way = sides_[from];
    way.moving = false;
    if (dead_ || way.ended) return;
    if (network_.is_stalled(way.machine, other(from).machine)) return;
    const std::size_t largest = network_.options_.largest_piece_bytes;
    const std::size_t size = std::min<std::size_t>(way.flying.size(), 1 + network_.chance_.below(largest));
    const auto end = way.flying.begin() + static_cast<std::ptrdiff_t>(size);
    const std::vector<std::byte> piece(way.flying.begin(), end);
    way.flying.erase(way.flying.begin(), end);
    network_.world_.events().mix(event::frame, piece);
    if (way.flying.empty() && way.closed) way.ended = true;
    side& into = other(from);
    into.arrived.insert(into.arrived.end(), piece.begin(), piece.end());
    wake(1 - from);
    wake(from);
    move(from);
  }

  void serve_reader(std::size_t which) {
    side& own = sides_[which];
    if (!own.on_read) return;
    if (!own.arrived.empty()) {
      const std::size_t size = std::min(own.arrived.size(), own.target.size());
      const auto end = own.arrived.begin() + static_cast<std::ptrdiff_t>(size);
      std::copy(own.arrived.begin(), end, own.target.begin());
      own.arrived.erase(own.arrived.begin(), end);
      std::exchange(own.on_read, nullptr)(size);
    } else if (other(which).ended) {
      std::exchange(own.on_read, nullptr)(fail(io::errc::closed, "end of stream"));
    }
  }

  void serve_writer(std::size_t which) {
    side& own = sides_[which];
    if (!own.on_written) return;
    if (own.closed) {
      std::exchange(own.on_written, nullptr)(fail(io::errc::closed, "the other broker is gone"));
    } else if (own.flying.size() <= network_.options_.buffer_bytes) {
      std::exchange(own.on_written, nullptr)({});
    }
  }

  peer_network& network_;
  std::array<side, 2> sides_;
  bool dead_ = false;  // nothing moves any more
};

namespace {

class peer_stream final : public io::stream {
 public:
  peer_stream(std::shared_ptr<peer_link> of, std::size_t which)
      : link_(std::move(of)),
        which_(which),
        remote_(fmt::format("10.1.0.{}:{}", 1 + link_->other(which).machine, 40'000)) {}

  ~peer_stream() override {
    own().on_read = nullptr;
    own().on_written = nullptr;
    link_->close(which_);
    own().executor = nullptr;
  }

  void read_some(mutable_byte_view target, unique_function<void(result<std::size_t>)> done) override {
    BRAID_CHECK(!own().on_read && !target.empty());
    own().target = target;
    own().on_read = std::move(done);
    link_->wake(which_);
  }

  void write(std::vector<bytes> parts, unique_function<void(status)> done) override {
    BRAID_CHECK(!own().on_written);
    own().on_written = std::move(done);
    if (!own().closed) {
      for (const bytes& part : parts) {
        own().flying.insert(own().flying.end(), part.view().begin(), part.view().end());
      }
      link_->move(which_);
    }
    link_->wake(which_);
  }

  void close() override { link_->close(which_); }
  const std::string& remote() const override { return remote_; }

 private:
  peer_link::side& own() { return link_->of(which_); }

  std::shared_ptr<peer_link> link_;
  std::size_t which_;
  std::string remote_;
};

}  // namespace

std::unique_ptr<io::stream> peer_link::end(std::size_t which) {
  return std::make_unique<peer_stream>(shared_from_this(), which);
}

void peer_network::add(const std::shared_ptr<peer_host>& life) {
  // What the others still hold of an earlier life ends now.
  for (const auto& one : open_links()) {
    std::size_t which = 0;
    if (one->touches(life->machine, which)) one->reset(which);
  }
  hosts_.push_back(life);
}

void peer_network::remove(const std::shared_ptr<peer_host>& life, bool in_silence) {
  std::erase(hosts_, life);
  for (const auto& one : open_links()) {
    std::size_t which = 0;
    if (!one->touches(life->machine, which)) continue;
    if (in_silence)
      one->fall_silent();
    else
      one->cut();
  }
}

peer::connect_function peer_network::connect_from(const std::shared_ptr<peer_host>& life, sim_executor& executor) {
  return
      [this, from = std::weak_ptr(life), &executor](const io::endpoint& to, io::duration timeout,
                                                    unique_function<void(result<std::unique_ptr<io::stream>>)> done) {
        const io::time_point deadline = world_.now() + timeout;
        auto shared = std::make_shared<unique_function<void(result<std::unique_ptr<io::stream>>)>>(std::move(done));
        network_.post([this, from, &executor, to, deadline, shared] { arrive(from, executor, to, deadline, shared); });
      };
}

void peer_network::arrive(const std::weak_ptr<peer_host>& from, sim_executor& executor, const io::endpoint& to,
                          io::time_point deadline, const done_callback& done) {
  const auto opener = from.lock();
  if (!opener) return;  // its life is over
  const auto say = [&](const char* why) { executor.post([done, why] { (*done)(fail(io::errc::closed, why)); }); };
  const auto machine = machine_of(to);
  BRAID_CHECK(machine.has_value());
  if (is_stalled(opener->machine, *machine) || is_stalled(*machine, opener->machine)) {
    if (world_.now() >= deadline) {
      ++counters_.timed_out;
      return say("no answer in time");
    }
    network_.schedule(look_again,
                      [this, from, &executor, to, deadline, done] { arrive(from, executor, to, deadline, done); });
    return;
  }
  const auto host = std::ranges::find(hosts_, *machine, [](const auto& one) { return one->machine; });
  const bool is_there = host != hosts_.end();
  const peer_host::port* port = nullptr;
  if (is_there) port = to.port == metadata_peer_port ? &(*host)->metadata : &(*host)->braid;
  if (port == nullptr || !port->take) {
    ++counters_.refused;
    return say("nobody listens");
  }
  ++counters_.connections;
  peer_link::side opening;
  opening.machine = opener->machine;
  opening.executor = &executor;
  peer_link::side taking;
  taking.machine = *machine;
  taking.executor = port->executor;
  auto made = std::make_shared<peer_link>(*this, std::move(opening), std::move(taking));
  std::erase_if(links_, [](const auto& one) { return one.expired(); });
  links_.push_back(made);
  port->executor->post([take = port->take, end = std::make_shared<std::unique_ptr<io::stream>>(made->end(1))] {
    take(std::move(*end));
  });
  executor.post(
      [done, end = std::make_shared<std::unique_ptr<io::stream>>(made->end(0))] { (*done)(std::move(*end)); });
}

void peer_network::stall(std::size_t from, std::size_t to) {
  if (stalled_.emplace(from, to).second) ++counters_.stalls;
}

void peer_network::heal() {
  stalled_.clear();
  for (const auto& one : open_links()) {
    one->move(0);
    one->move(1);
  }
}

void peer_network::cut_one() {
  const auto open = open_links();
  if (!open.empty()) open[chance_.below(open.size())]->cut();
}

void peer_network::steady() {
  options_ = network_options{};
  options_.delay_chance = 0;
}

std::vector<std::shared_ptr<peer_link>> peer_network::open_links() {
  std::vector<std::shared_ptr<peer_link>> open;
  for (const auto& one : links_) {
    if (auto held = one.lock()) open.push_back(std::move(held));
  }
  return open;
}

}  // namespace braidmq::sim
