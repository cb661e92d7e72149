// The ways in which a node's messages leave it, and its chance. Inside of raft only.
#pragma once

#include <algorithm>
#include <utility>

#include "raft/node.hpp"

namespace braidmq::raft {

// splitmix64 (Steele, Lea, Flood 2014): a few good bits from any seed.
inline std::uint64_t next_random(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

// Another number for each seed, far from those of the timeouts.
inline std::uint64_t mixed(std::uint64_t seed) {
  std::uint64_t state = ~seed;
  return next_random(state);
}

template <class Body>
void node::send(const node_id& to, Body body) {
  messages_.push_back({config_.self, to, term_, std::move(body)});
}

// A later one of a kind stands for those before it, so that a flood of requests holds nothing.
template <class Body>
void node::send_when_office_is_durable(const node_id& to, Body body) {
  if (is_office_durable()) return send(to, std::move(body));
  std::erase_if(held_, [&](const message& m) { return m.to == to && std::holds_alternative<Body>(m.body); });
  held_.push_back({config_.self, to, term_, std::move(body)});
}

}  // namespace braidmq::raft
