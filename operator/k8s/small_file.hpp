// Files that Kubernetes mounts: small, text, replaced while we run.
#pragma once

#include <string>

#include "base/result.hpp"

namespace braidmq::k8s {

inline constexpr std::size_t max_small_file_bytes = 1U << 20U;

result<std::string> read_small_file(const std::string& path);

// Without white space around it.
std::string trimmed(std::string text);

}  // namespace braidmq::k8s
