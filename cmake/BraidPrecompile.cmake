# The standard library, fmt, tl::expected and our own base stand in nearly every file: parsed once, with their templates
# instantiated once, they more than halve a clean build. Headers of ours above base are not in here, so that a change of
# one rebuilds only what includes it (tests/tidy compiles each alone).
#
# braid_precompile(target [ASIO|JSON]): gives a target the shared precompiled header, or the one with asio's coroutines, or
# the one with nlohmann-json. All users of one are compiled with the same flags.
set(BRAID_PRECOMPILED
  <algorithm> <array> <atomic> <chrono> <compare> <cstddef> <cstdint> <cstring> <deque> <functional> <limits> <map>
  <memory> <mutex> <optional> <span> <string> <string_view> <system_error> <type_traits> <unordered_map> <utility>
  <variant> <vector> <fmt/format.h> <tl/expected.hpp>
  <base/bytes.hpp> <base/check.hpp> <base/result.hpp> <base/strong_id.hpp> <base/unique_function.hpp> <base/uuid.hpp>)

add_library(braid_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/empty.cpp)
target_link_libraries(braid_pch PUBLIC braid_flags fmt::fmt tl::expected)
target_include_directories(braid_pch PRIVATE ${CMAKE_BINARY_DIR}/modules/base)
target_precompile_headers(braid_pch PRIVATE ${BRAID_PRECOMPILED})

add_library(braid_asio_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/empty.cpp)
target_link_libraries(braid_asio_pch PUBLIC braid_flags braid_asio fmt::fmt tl::expected)
target_include_directories(braid_asio_pch PRIVATE ${CMAKE_BINARY_DIR}/modules/base)
target_precompile_headers(braid_asio_pch PRIVATE ${BRAID_PRECOMPILED} <asio/any_io_executor.hpp> <asio/awaitable.hpp>
  <asio/co_spawn.hpp> <asio/io_context.hpp> <asio/post.hpp> <asio/use_awaitable.hpp>)

add_library(braid_json_pch STATIC ${CMAKE_SOURCE_DIR}/cmake/empty.cpp)
target_link_libraries(braid_json_pch PUBLIC braid_flags fmt::fmt tl::expected nlohmann_json::nlohmann_json)
target_precompile_headers(braid_json_pch PRIVATE ${BRAID_PRECOMPILED} <fmt/ranges.h> <nlohmann/json.hpp>)

function(braid_precompile target)
  if("JSON" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM braid_json_pch)
  elseif("ASIO" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM braid_asio_pch)
  else()
    target_precompile_headers(${target} REUSE_FROM braid_pch)
  endif()
endfunction()
