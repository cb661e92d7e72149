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

# braid_add_pch(target LIBS <targets> HEADERS <headers>): a precompiled header of BRAID_PRECOMPILED and these.
function(braid_add_pch target)
  cmake_parse_arguments(P "" "" "LIBS;HEADERS" ${ARGN})
  add_library(${target} STATIC ${CMAKE_SOURCE_DIR}/cmake/empty.cpp)
  target_link_libraries(${target} PUBLIC braid_flags fmt::fmt tl::expected ${P_LIBS})
  target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/modules/base)
  target_precompile_headers(${target} PRIVATE ${BRAID_PRECOMPILED} ${P_HEADERS})
endfunction()

braid_add_pch(braid_pch)
braid_add_pch(braid_asio_pch LIBS braid_asio HEADERS <asio/any_io_executor.hpp> <asio/awaitable.hpp> <asio/co_spawn.hpp>
  <asio/io_context.hpp> <asio/post.hpp> <asio/use_awaitable.hpp>)
braid_add_pch(braid_json_pch LIBS nlohmann_json::nlohmann_json HEADERS <fmt/ranges.h> <nlohmann/json.hpp>)

function(braid_precompile target)
  if("JSON" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM braid_json_pch)
  elseif("ASIO" IN_LIST ARGN)
    target_precompile_headers(${target} REUSE_FROM braid_asio_pch)
  else()
    target_precompile_headers(${target} REUSE_FROM braid_pch)
  endif()
endfunction()
