// File descriptors: segments, logs and connections take them, and a log that cannot open its next file ends the broker.
#pragma once

#include <cstdint>

namespace braidmq::app {

// Raises the process's soft limit to its hard one, as other servers do, and returns it. Errors leave it as it is.
std::uint64_t raise_descriptor_limit();

// How many connections a listener may have, of `wanted`, so that all listeners together leave half of the descriptors
// to files.
std::int64_t connections_within(std::uint64_t descriptors, std::size_t listeners, std::int64_t wanted);

}  // namespace braidmq::app
