#include "resources/voters.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace braidmq::resources {

voter_list choose_voters(const std::vector<const api::braid_pool*>& pools, int count) {
  struct candidate {
    const api::braid_pool* pool;
    int taken = 0;
  };
  std::vector<candidate> all;
  for (const auto* pool : pools) all.push_back({pool});
  std::map<std::string, int> in_zone;
  // A pool without a zone is spread over zones by the scheduler: it counts as one of its own.
  const auto zone_of = [](const candidate& one) {
    return one.pool->zone.empty() ? "pool/" + one.pool->key.name : "zone/" + one.pool->zone;
  };
  voter_list chosen;
  while (std::ssize(chosen) < count) {
    candidate* best = nullptr;
    const auto rank = [&](const candidate& one) {
      return std::tuple(in_zone[zone_of(one)], one.taken, one.pool->index, one.pool->key.name);
    };
    for (auto& one : all) {
      if (one.taken < one.pool->replicas && (best == nullptr || rank(one) < rank(*best))) best = &one;
    }
    if (best == nullptr) break;
    chosen.push_back({broker_id(*best->pool, best->taken), pod_name(*best->pool, best->taken)});
    ++in_zone[zone_of(*best)];
    ++best->taken;
  }
  std::ranges::sort(chosen, {}, &voter::id);
  return chosen;
}

int default_voters(int brokers) {
  return brokers >= 3 ? 3 : 1;
}

std::string voters_text(const voter_list& voters) {
  std::string text;
  for (const auto& one : voters) text += fmt::format("{}{}={}", text.empty() ? "" : ",", one.id, one.pod);
  return text;
}

std::optional<voter_list> parse_voters(std::string_view text) {
  voter_list voters;
  if (text.ends_with(',')) return std::nullopt;  // cut: of fewer voters, fewer would be a majority
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    const auto part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto equals = part.find('=');
    if (equals == std::string_view::npos || equals + 1 == part.size()) return std::nullopt;
    voter one{.id = -1, .pod = std::string(part.substr(equals + 1))};
    const auto read = std::from_chars(part.data(), part.data() + equals, one.id);
    if (read.ec != std::errc{} || read.ptr != part.data() + equals || one.id < 0) return std::nullopt;
    voters.push_back(std::move(one));
  }
  std::ranges::sort(voters, {}, &voter::id);
  const bool doubled = std::ranges::adjacent_find(voters, {}, &voter::id) != voters.end();
  if (voters.empty() || doubled) return std::nullopt;
  return voters;
}

int voters_of_pool(const voter_list& voters, const api::braid_pool& pool) {
  int count = 0;
  while (std::ranges::find(voters, pod_name(pool, count), &voter::pod) != voters.end()) ++count;
  return count;
}

std::string quorum_text(const voter_list& voters, const api::braid_cluster& cluster, std::string_view domain) {
  std::string text;
  for (const auto& one : voters) {
    text += fmt::format("{}{}@{}.{}.{}.svc.{}:{}", text.empty() ? "" : ",", one.id, one.pod,
                        peer_service_name(cluster.key.name), cluster.key.namespace_name, domain, controller_port);
  }
  return text;
}

}  // namespace braidmq::resources
