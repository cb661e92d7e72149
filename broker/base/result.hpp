// Expected failures are values: result<T> is a T or an error. Exceptions stay inside the .cpp that calls a library.
#pragma once

#include <string>
#include <system_error>
#include <utility>

#include <tl/expected.hpp>

namespace braidmq {

// What went wrong: a code that the program can act upon (each module has its own enum, registered as an
// std::error_category) and words for a person: what was tried, on what, and what to do.
struct error {
  std::error_code code;
  std::string message;

  // "message: text of the code"
  std::string to_string() const { return message.empty() ? code.message() : message + ": " + code.message(); }
};

// tl::expected with its interface (has_value, error, and_then, ...), and a warning when a result is dropped.
template <class T>
class [[nodiscard]] result : public tl::expected<T, error> {
  using base = tl::expected<T, error>;

 public:
  using base::base;
  result() = default;
  result(base&& other) : base(std::move(other)) {}  // NOLINT(google-explicit-constructor)
};
using status = result<void>;

inline tl::unexpected<error> fail(std::error_code code, std::string message = {}) {
  return tl::unexpected<error>(error{code, std::move(message)});
}

// Puts words in front of an error that comes from below, for each level that knows more.
inline error with_context(error e, const std::string& context) {
  e.message = e.message.empty() ? context : context + ": " + e.message;
  return e;
}

}  // namespace braidmq

// BRAID_TRY(name, expression): declares `name` as the value of a result, or returns its error from this function.
#define BRAID_TRY(name, ...)                                                                           \
  auto name##_or_error = (__VA_ARGS__);                                                                \
  if (!name##_or_error) return ::tl::unexpected<::braidmq::error>(std::move(name##_or_error).error()); \
  auto& name = *name##_or_error

// The same for a result<void>.
#define BRAID_TRY_VOID(...)                                                                        \
  do {                                                                                             \
    auto braid_status = (__VA_ARGS__);                                                             \
    if (!braid_status) return ::tl::unexpected<::braidmq::error>(std::move(braid_status).error()); \
  } while (false)
