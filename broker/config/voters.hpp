// "0@broker-0.svc:9095,1@broker-1.svc:9095": the brokers that vote, as in Kafka's controller.quorum.voters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/endpoint.hpp"

namespace braidmq::config {

// One of the initial voters, and where the others reach it.
struct voter {
  std::int32_t broker = 0;
  io::endpoint metadata;  // its controller.listener
  io::endpoint braid;     // its braid.listener

  friend bool operator==(const voter&, const voter&) = default;
};

// By rising id, of the texts of controller.quorum.voters and braid.voters; where the latter is empty, the hosts of the
// former with `braid_port`. Errors: a text of another form, an id or address given twice, a port of 0, other brokers in
// one text than in the other, more than 15 or an even number of voters.
result<std::vector<voter>> parse_voters(std::string_view metadata, std::string_view braid, std::uint16_t braid_port);

}  // namespace braidmq::config
