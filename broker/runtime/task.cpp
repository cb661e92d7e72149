#include "runtime/task.hpp"

#include <exception>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include "base/check.hpp"

namespace braidmq::runtime {
namespace {

void end_by_exception(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& e) {
    BRAID_CHECK(false, "an exception left a detached coroutine: {}", e.what());
  } catch (...) {
    BRAID_CHECK(false, "an exception of unknown type left a detached coroutine");
  }
}

}  // namespace

// Out of line: co_spawn's templates would otherwise be compiled with every file that waits for anything.
void spawn(asio::any_io_executor executor, task<void> work) {
  asio::co_spawn(std::move(executor), std::move(work), [](const std::exception_ptr& exception) {
    if (exception) end_by_exception(exception);
  });
}

void spawn(asio::io_context& on, task<void> work) {
  spawn(on.get_executor(), std::move(work));
}

void spawn(shard& on, task<void> work) {
  spawn(on.context(), std::move(work));
}

}  // namespace braidmq::runtime
