# Third-party packages, all from Debian bookworm; cmake/packages.txt names them and `make deps` installs them.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Snappy REQUIRED)
find_package(zstd REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED) # no version: the package has no version file
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tl-expected REQUIRED)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
# Its flags matter: without CPPHTTPLIB_OPENSSL_SUPPORT the size of a client differs from the library's.
pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)

# Sanitizers bring an allocator of their own. Statically, so that the program needs no other package where it runs.
if(NOT BRAID_ASAN AND NOT BRAID_TSAN)
  find_library(BRAID_JEMALLOC NAMES libjemalloc_pic.a REQUIRED)
endif()

find_path(ASIO_INCLUDE_DIR asio.hpp REQUIRED)
add_library(braid_asio INTERFACE)
target_include_directories(braid_asio SYSTEM INTERFACE ${ASIO_INCLUDE_DIR})
target_compile_definitions(braid_asio INTERFACE ASIO_STANDALONE ASIO_SEPARATE_COMPILATION ASIO_NO_DEPRECATED)
# Whether asio sees aligned_alloc depends on which standard header came before it, so one file would allocate what
# another frees by the other function. Say it once for all: nothing that it allocates asks for more than operator new gives,
# which is the faster way.
target_compile_definitions(braid_asio INTERFACE ASIO_DISABLE_STD_ALIGNED_ALLOC=1)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # asio 1.22 looks for <experimental/coroutine> under clang; clang 19 has the standard header.
  target_compile_definitions(braid_asio INTERFACE ASIO_HAS_CO_AWAIT=1 ASIO_HAS_STD_COROUTINE=1)
endif()
target_link_libraries(braid_asio INTERFACE Threads::Threads)
