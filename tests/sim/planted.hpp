// Planted bugs: searched among seeds, and replayed at the seeds that are recorded as the first to find them, with the
// bug on and with the bug off.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "world/plants.hpp"

namespace braidmq::sim {

struct plant_search {
  std::vector<std::uint64_t> seeds;
  std::uint64_t operations = 600;
  plant only = plant::none;  // none: all
  std::string record;        // a file to write what was found to; empty: none
};

// Searches every bug; prints the first seed that finds each. True: all were found.
bool search_plants(const plant_search& wanted);

// Of the file that a search has written: with the bug on, the seed must find it; with the bug off, nothing. One bug, or
// all for plant::none. A bug without a line in the file counts as not found.
bool replay_plants(const std::string& recorded, plant only);

}  // namespace braidmq::sim
