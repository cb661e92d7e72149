// The rules for topic names: ASCII letters, digits, '.', '_' and '-', 1 to 249 characters, not "." and not "..". The
// rules make a name safe in a path and leave room for "-partition.suffix" in 255 bytes. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "model/errc.hpp"

namespace braidmq::model {

inline constexpr std::size_t max_topic_name_length = 249;

// invalid_topic with words that say what is wrong.
status check_topic_name(std::string_view name);

// Metric names turn '.' into '_', so two topics that differ in nothing else would share their metrics. Kafka refuses to
// create the second one; keep a set of these keys to find out in O(1).
std::string topic_collision_key(std::string_view name);
bool topic_names_collide(std::string_view a, std::string_view b);

}  // namespace braidmq::model
