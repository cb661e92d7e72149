#include "base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace braidmq::detail {

void check_failed(const char* file, int line, std::string_view condition, const std::string& context) {
  // stderr without buffering or locks of a logger: this may run while the logger's own state is broken.
  fmt::print(stderr, "{}:{}: check failed: {}{}{}\n", file, line, condition, context.empty() ? "" : ": ", context);
  std::fflush(stderr);
  std::abort();
}

}  // namespace braidmq::detail
