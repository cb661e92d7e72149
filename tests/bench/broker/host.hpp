// Where the bench runs: without it a figure says little.
#pragma once

#include <array>
#include <string>

namespace braidmq::bench {

struct host {
  std::string cpu;  // model and count
  std::string kernel;
  std::string file_system;  // type and device of a folder
};

host describe_host(const std::string& folder);

// Of 1, 5 and 15 minutes.
std::array<double, 3> load_average();

}  // namespace braidmq::bench
