// What was measured, as a table for people and as JSON for comparisons.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/broker/host.hpp"

namespace braidmq::bench {

struct row {
  std::string what;
  std::string measured;
  std::string wanted;        // empty: there is no target
  std::optional<bool> held;  // none: there is no target
  std::string note;          // below the row; may be empty
  std::map<std::string, double> figures;
};

struct report {
  host where;
  std::string build;  // of the broker: RelWithDebInfo
  std::array<double, 3> load_before{};
  std::array<double, 3> load_after{};
  std::vector<row> rows;

  std::size_t missed() const;
};

std::string to_table(const report& of);
status write_json(const report& of, const std::string& path);

}  // namespace braidmq::bench
