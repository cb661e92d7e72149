// Runs something in a process of its own, so that whoever asks outlives it.
#pragma once

#include <functional>
#include <string>

namespace braidmq::sim {

// What `what` returns; when its process ends by a signal instead, what it said last, and which signal. Blocking.
std::string run_apart(const std::function<std::string()>& what);

}  // namespace braidmq::sim
