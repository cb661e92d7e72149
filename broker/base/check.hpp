// Checks that stay on in every build: a broken invariant of our own stops the process before it can spread to disk.
// BRAID_CHECK is for invariants; bad input from outside is never checked this way, it is answered with an error.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace braidmq::detail {

[[noreturn]] void check_failed(const char* file, int line, std::string_view condition, const std::string& context);

}  // namespace braidmq::detail

// BRAID_CHECK(condition) or BRAID_CHECK(condition, "fmt {}", args...): aborts with file, line and context.
#define BRAID_CHECK(condition, ...)                                                                   \
  do {                                                                                                \
    if (!(condition)) [[unlikely]] {                                                                  \
      ::braidmq::detail::check_failed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
    }                                                                                                 \
  } while (false)

// For hot loops: on in debug builds only.
#ifdef NDEBUG
#define BRAID_DCHECK(condition, ...) \
  do {                               \
  } while (false)
#else
#define BRAID_DCHECK(condition, ...) BRAID_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#endif
