#include "runtime/task.hpp"

#include <exception>

#include "base/check.hpp"

namespace braidmq::runtime::detail {

void end_by_exception(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& e) {
    BRAID_CHECK(false, "an exception left a detached coroutine: {}", e.what());
  } catch (...) {
    BRAID_CHECK(false, "an exception of unknown type left a detached coroutine");
  }
}

}  // namespace braidmq::runtime::detail
