#include "peer/mesh.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"
#include "peer/raft_codec.hpp"

namespace braidmq::peer {

namespace {

// Of the lines to one peer.
constexpr std::size_t append_line = 0;
constexpr std::size_t control_line = 1;

}  // namespace

struct mesh::line {
  model::broker_id broker;
  io::endpoint at;
  std::shared_ptr<channel> open;  // or in its handshake
  uuid incarnation;               // of the other end, when it has proven itself
  bool stands = false;            // the handshake is over
  bool connecting = false;
  bool given_up = false;  // another address took its place
  bool is_control = false;
  io::duration pause{};
  io::timer_id timer{0};
  std::string trouble;
};

struct mesh::known_peer {
  std::array<std::shared_ptr<line>, 2> lines;  // appends, all else
  std::deque<std::uint64_t> taken;             // connections of its making, by their number
  uuid incarnation;
};

mesh::mesh(mesh_environment environment, identity self, secrets known, mesh_options options)
    : environment_(std::move(environment)), self_(self), secrets_(std::move(known)), options_(options) {}

mesh::~mesh() {
  stop();
}

void mesh::stop() {
  if (std::exchange(stopped_, true)) return;
  alive_.reset();
  for (auto& [broker, peer] : peers_) {
    for (const auto& one : peer->lines) {
      if (one == nullptr) continue;
      environment_.timers.cancel(one->timer);
      if (one->open) one->open->close();
    }
  }
  for (auto& [number, one] : taken_) one->close();
  taken_.clear();
}

void mesh::set_address(model::broker_id broker, const io::endpoint& at) {
  if (stopped_ || broker == self_.broker) return;
  auto& peer = peers_[broker];
  if (peer == nullptr) peer = std::make_unique<known_peer>();
  for (auto& place : peer->lines) {
    if (place != nullptr && place->at == at) continue;
    if (place != nullptr) {
      place->given_up = true;
      environment_.timers.cancel(place->timer);
      if (place->open) place->open->close();
      if (place->stands && place->is_control && on_reach_) on_reach_(broker, nullptr);
    }
    place = std::make_shared<line>();
    place->broker = broker;
    place->at = at;
    place->is_control = &place == &peer->lines[control_line];
    connect(place);
  }
}

void mesh::listen(raft::group_id group, unique_function<void(raft::message)> take) {
  groups_[group] = std::move(take);
}

void mesh::listen(frame_kind kind, unique_function<void(const acquaintance&, const bytes&)> take) {
  kinds_[kind] = std::move(take);
}

bool mesh::send(model::broker_id to, bytes frame) {
  const auto found = peers_.find(to);
  const std::shared_ptr<line> by = found == peers_.end() ? nullptr : found->second->lines[control_line];
  return by != nullptr && by->stands && by->open->send(std::move(frame));
}

bool mesh::is_append(const raft::message& message) {
  return std::holds_alternative<raft::append_request>(message.body);
}

void mesh::send(raft::group_id group, const raft::message& message) {
  const auto found = peers_.find(model::broker_id(message.to.broker));
  const std::shared_ptr<line> by =
      found == peers_.end() ? nullptr : found->second->lines[is_append(message) ? append_line : control_line];
  // Another life of that broker is another voter: it gets nothing that was meant for the one before.
  const bool stands = by != nullptr && by->stands && by->incarnation == message.to.incarnation;
  if (stands && by->open->send(encode(group, message))) {
    ++stats_.messages_sent;
  } else {
    ++stats_.messages_dropped;
  }
}

// ---- connections of our making ----

void mesh::connect(const std::shared_ptr<line>& of) {
  if (stopped_ || of->given_up) return;
  of->connecting = true;
  environment_.connect(of->at, options_.connect_timeout,
                       [this, of, alive = std::weak_ptr(alive_)](result<std::unique_ptr<io::stream>> stream) {
                         if (alive.expired() || of->given_up) return;
                         of->connecting = false;
                         if (!stream) return on_line_ended(of, stream.error());
                         on_connected(of, std::move(*stream));
                       });
}

void mesh::on_connected(const std::shared_ptr<line>& of, std::unique_ptr<io::stream> stream) {
  channel_callbacks callbacks;
  // The line holds the channel, the channel must not hold the line.
  const std::weak_ptr<line> weak = of;
  callbacks.on_open = [this, weak](const acquaintance& other) {
    const auto line = weak.lock();
    if (line == nullptr) return;
    line->stands = true;
    line->incarnation = other.other.incarnation;
    line->pause = {};
    line->trouble.clear();
    peers_.at(line->broker)->incarnation = other.other.incarnation;
    ++stats_.connections_made;
    if (line->is_control && on_reach_) on_reach_(line->broker, &other);
  };
  callbacks.on_frame = [this](const bytes&) { ++stats_.frames_refused; };  // nobody speaks here but us
  callbacks.on_closed = [this, weak](const error& why) {
    const auto line = weak.lock();
    if (line == nullptr || line->given_up) return;
    const bool stood = std::exchange(line->stands, false);
    line->open.reset();
    if (stood && line->is_control && on_reach_) on_reach_(line->broker, nullptr);
    on_line_ended(line, why);
  };
  of->open = std::make_shared<channel>(
      channel_context{environment_.executor, environment_.timers, environment_.clock}, std::move(stream),
      opening_handshake(self_, of->broker, secrets_, environment_.random), options_.channel, std::move(callbacks));
  of->open->start();
}

// Tried again after a pause, twice as long each time, of which chance takes up to a half: brokers that start together
// do not meet again and again.
void mesh::on_line_ended(const std::shared_ptr<line>& of, const error& why) {
  if (stopped_) return;
  of->trouble = why.to_string();
  of->pause = std::clamp<io::duration>(2 * of->pause, options_.shortest_pause, options_.longest_pause);
  const auto part = static_cast<std::int64_t>(environment_.random.next_u64() % 512);
  const io::duration pause = of->pause - of->pause * part / 1024;
  of->timer = environment_.timers.schedule(pause, [this, of, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) connect(of);
  });
}

// ---- connections of others ----

void mesh::take(std::unique_ptr<io::stream> stream) {
  if (stopped_) return;
  if (strangers_ >= options_.max_strangers) {
    ++stats_.strangers_refused;
    return;  // destroyed: closed
  }
  ++strangers_;
  const std::uint64_t number = ++last_taken_;
  // What is known of the other end, once it has proven itself.
  const auto met = std::make_shared<std::optional<acquaintance>>();
  channel_callbacks callbacks;
  callbacks.on_open = [this, met, number](const acquaintance& other) {
    *met = other;
    --strangers_;
    ++stats_.connections_made;
    auto& peer = peers_[other.other.broker];
    if (peer == nullptr) peer = std::make_unique<known_peer>();
    peer->taken.push_back(number);
    peer->incarnation = other.other.incarnation;
    make_room(*peer);
  };
  callbacks.on_frame = [this, met](const bytes& frame) { on_frame(**met, frame); };
  callbacks.on_closed = [this, met, number](const error&) {
    if (*met) {
      std::erase(peers_.at((*met)->other.broker)->taken, number);
    } else {
      --strangers_;
    }
    taken_.erase(number);
  };
  const auto made = std::make_shared<channel>(
      channel_context{environment_.executor, environment_.timers, environment_.clock}, std::move(stream),
      taking_handshake(self_, secrets_, environment_.random), options_.channel, std::move(callbacks));
  taken_.emplace(number, made);
  made->start();
}

// Of an end whose power went nobody hears; what its next life opens takes the place.
void mesh::make_room(known_peer& of) {
  while (of.taken.size() > options_.max_of_broker) {
    const auto oldest = taken_.find(of.taken.front());
    of.taken.pop_front();
    ++stats_.made_room;
    if (oldest == taken_.end()) continue;
    oldest->second->close();
    taken_.erase(oldest);
  }
}

void mesh::on_frame(const acquaintance& from, const bytes& frame) {
  if (frame.size() >= head_bytes) {
    const auto other = kinds_.find(static_cast<frame_kind>(load_be<std::int16_t>(frame.data())));
    if (other != kinds_.end()) {
      ++stats_.messages_received;
      return other->second(from, frame);
    }
  }
  auto read = decode(frame, {from.other.broker.value(), from.other.incarnation}, own_id());
  const auto group = read ? groups_.find(read->group) : groups_.end();
  if (group == groups_.end()) {
    ++stats_.frames_refused;
    return;
  }
  ++stats_.messages_received;
  group->second(std::move(read->message));
}

peer_status mesh::status_of(model::broker_id broker) const {
  const auto found = peers_.find(broker);
  if (found == peers_.end()) return {};
  const known_peer& peer = *found->second;
  peer_status now;
  now.heard = !peer.taken.empty();
  now.incarnation = peer.incarnation;
  now.reachable = true;
  for (const auto& one : peer.lines) {
    const bool stands = one != nullptr && one->stands;
    now.reachable = now.reachable && stands;
    if (one != nullptr && !stands && now.trouble.empty()) now.trouble = one->trouble;
  }
  return now;
}

}  // namespace braidmq::peer
