// The brokers that found a cluster and vote in its log. They are chosen once, before any volume is asked for, and never
// change: which brokers may found a cluster decides whether there can be a second one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "resources/names.hpp"

namespace braidmq::resources {

struct voter {
  std::int32_t id = 0;
  std::string pod;

  friend bool operator==(const voter&, const voter&) = default;
};

using voter_list = std::vector<voter>;  // by rising id

inline constexpr int braid_port = 9094;
inline constexpr int controller_port = 9095;

// `count` of the brokers that the pools have, spread over zones, then over pools, lowest numbers first: of each pool
// its first pods. The same for the same pools in any order. Fewer when there are not so many.
voter_list choose_voters(const std::vector<const api::braid_pool*>& pools, int count);

// How many a cluster with so many brokers has when its spec does not say: 3, or 1 where there are fewer.
int default_voters(int brokers);

// "0=prod-a-0,1=prod-a-1", for the ConfigMap and for annotations of volume claims.
std::string voters_text(const voter_list& voters);
// Nothing when a part is not of that form or there is none.
std::optional<voter_list> parse_voters(std::string_view text);

// How many of the pool's pods vote.
int voters_of_pool(const voter_list& voters, const api::braid_pool& pool);

// controller.quorum.voters of the broker: the pods' stable names.
std::string quorum_text(const voter_list& voters, const api::braid_cluster& cluster, std::string_view domain);

}  // namespace braidmq::resources
