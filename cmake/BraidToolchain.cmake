# Compiler, flags, linker, cache. Included once, before any target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Debug CACHE STRING "Debug or RelWithDebInfo" FORCE)
endif()

find_program(BRAID_CCACHE ccache)
if(BRAID_CCACHE)
  # Precompiled headers need the sloppiness: ccache cannot see macros through them, and we use no __TIME__.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${BRAID_CCACHE})
endif()

# Some compilers destroy a capturing temporary twice when its full-expression contains a co_await (see
# broker/docs/adr/0001-compiler.md). A program that was built so corrupts memory at run time, so ask the compiler.
include(CheckCXXSourceRuns)
set(CMAKE_REQUIRED_FLAGS "-std=c++20")
check_cxx_source_runs([[
#include <coroutine>
#include <utility>
static int live = 0;
struct counted {
  counted() { ++live; }
  counted(const counted&) { ++live; }
  counted(counted&&) noexcept { ++live; }
  ~counted() { --live; }
};
struct task {
  struct promise_type {
    std::coroutine_handle<> next = std::noop_coroutine();
    task get_return_object() { return task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct final_awaiter {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept { return h.promise().next; }
      void await_resume() noexcept {}
    };
    final_awaiter final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
  explicit task(std::coroutine_handle<promise_type> h) : handle(h) {}
  task(task&& other) noexcept : handle(std::exchange(other.handle, {})) {}
  ~task() { if (handle) handle.destroy(); }
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) { handle.promise().next = caller; return handle; }
  void await_resume() {}
};
template <class F> task call(F f) { f(); co_return; }
task outer() { counted c; co_await call([c] { (void)c; }); }
int main() { { task t = outer(); t.handle.resume(); } return live == 0 ? 0 : 1; }
]] BRAID_COROUTINES_WORK)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT BRAID_COROUTINES_WORK)
  message(FATAL_ERROR
    "${CMAKE_CXX_COMPILER} (${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}) miscompiles coroutines: a temporary "
    "in an expression with co_await is destroyed twice. Install clang-19 (apt-get install clang-19) and configure with "
    "-DCMAKE_CXX_COMPILER=clang++-19; `make build` does both.")
endif()

set(CMAKE_CXX_FLAGS_DEBUG "")

# Flags of every target; sanitizers go on the whole program or not at all.
add_library(braid_flags INTERFACE)
target_compile_options(braid_flags INTERFACE -Wall -Wextra -Werror -Wnon-virtual-dtor -Woverloaded-virtual
  -Wimplicit-fallthrough -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # The cache would never hit if a precompiled header carried the time of its making.
  target_compile_options(braid_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  # Optimising instrumented code is half of a clean build; -gline-tables-only keeps traces readable and links short.
  target_compile_options(braid_flags INTERFACE -O0 -gline-tables-only -fno-omit-frame-pointer)
endif()
if(BRAID_ASAN)
  set(braid_sanitizers -fsanitize=address,undefined)
  if(NOT BRAID_UBSAN_ALL)
    # Alignment and dynamic type are checked at every access: a third of the build. `make ubsan` has them.
    list(APPEND braid_sanitizers -fno-sanitize=alignment,object-size,vptr)
  endif()
  target_compile_options(braid_flags INTERFACE ${braid_sanitizers} -fno-sanitize-recover=all)
  target_link_options(braid_flags INTERFACE ${braid_sanitizers})
endif()
if(BRAID_TSAN)
  target_compile_options(braid_flags INTERFACE -fsanitize=thread)
  target_link_options(braid_flags INTERFACE -fsanitize=thread)
endif()
if(BRAID_FUZZ)
  target_compile_options(braid_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(BRAID_MOLD mold)
if(BRAID_MOLD)
  target_link_options(braid_flags INTERFACE -fuse-ld=mold)
endif()
