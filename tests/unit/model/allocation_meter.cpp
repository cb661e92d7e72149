#include "allocation_meter.hpp"

#include <algorithm>
#include <atomic>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BRAID_SANITIZER_ALLOCATOR 1
#endif
#endif

#ifdef BRAID_SANITIZER_ALLOCATOR
#include <sanitizer/allocator_interface.h>
#else
#include <malloc.h>
#endif

namespace {

std::atomic<long long> held{0};
std::atomic<long long> peak{0};

void count_allocation(std::size_t size) {
  const long long now = held.fetch_add(static_cast<long long>(size)) + static_cast<long long>(size);
  if (now > peak.load()) peak.store(now);
}
void count_release(std::size_t size) {
  held.fetch_sub(static_cast<long long>(size));
}

}  // namespace

#ifdef BRAID_SANITIZER_ALLOCATOR
namespace {
void on_malloc(const volatile void*, std::size_t size) {
  count_allocation(size);
}
void on_free(const volatile void* block) {
  if (block != nullptr) count_release(__sanitizer_get_allocated_size(block));
}
void install() {
  static const int installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
  (void)installed;
}
}  // namespace
#else
// glibc: the program's own malloc stands in front of the library's.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t size) {
  void* block = __libc_malloc(size);
  if (block != nullptr) count_allocation(malloc_usable_size(block));
  return block;
}
void* calloc(std::size_t count, std::size_t size) {
  void* block = __libc_calloc(count, size);
  if (block != nullptr) count_allocation(malloc_usable_size(block));
  return block;
}
void* realloc(void* old, std::size_t size) {
  const std::size_t before = old != nullptr ? malloc_usable_size(old) : 0;
  void* block = __libc_realloc(old, size);
  count_release(before);
  if (block != nullptr) count_allocation(malloc_usable_size(block));
  return block;
}
void free(void* block) {
  if (block != nullptr) count_release(malloc_usable_size(block));
  __libc_free(block);
}
}
namespace {
void install() {}
}  // namespace
#endif

namespace braidmq::model {

allocation_meter::allocation_meter() : at_start_(0) {
  install();
  at_start_ = held.load();
  peak.store(at_start_);
}

std::size_t allocation_meter::peak_bytes() const {
  return static_cast<std::size_t>(std::max(0LL, peak.load() - at_start_));
}

}  // namespace braidmq::model
