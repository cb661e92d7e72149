// A bound on bytes that many owners share: the requests of all connections, the answers of all fetches. Whoever holds
// memory holds a lease, and gives it back by destroying it, wherever that happens.
//
// Small parts may be told from large ones: the last quarter is for them alone, and they pass large ones that wait, so
// that a few that ask for much do not stop all the others.
//
// Threads: any. Who has to wait is told in the order of asking, on the thread that gave the memory back.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/unique_function.hpp"

namespace braidmq {

class memory_budget;

class memory_lease {
 public:
  memory_lease() = default;
  memory_lease(memory_lease&& other) noexcept;
  memory_lease& operator=(memory_lease&& other) noexcept;
  ~memory_lease();

  std::size_t size_bytes() const { return size_bytes_; }
  explicit operator bool() const { return size_bytes_ > 0; }
  // Less than it is, or beyond the budget's limit: for memory that is held in any case. Of an empty lease without a
  // budget: does nothing.
  void resize(std::size_t size_bytes);

 private:
  friend class memory_budget;
  memory_lease(std::shared_ptr<memory_budget> from, std::size_t size_bytes)
      : from_(std::move(from)), size_bytes_(size_bytes) {}

  std::shared_ptr<memory_budget> from_;
  std::size_t size_bytes_ = 0;
};

// A place in the queue of a budget, left by destroying it: whoever goes while it waits is forgotten at once.
class memory_wait {
 public:
  memory_wait() = default;
  memory_wait(memory_wait&& other) noexcept = default;
  memory_wait& operator=(memory_wait&& other) noexcept;
  ~memory_wait();

 private:
  friend class memory_budget;
  memory_wait(std::shared_ptr<memory_budget> in, std::uint64_t place) : in_(std::move(in)), place_(place) {}

  std::shared_ptr<memory_budget> in_;
  std::uint64_t place_ = 0;
};

class memory_budget : public std::enable_shared_from_this<memory_budget> {
 public:
  // Up to `small_bytes` count as small; 0: there is one kind.
  static std::shared_ptr<memory_budget> create(std::size_t limit_bytes, std::size_t small_bytes = 0);

  std::size_t limit_bytes() const { return limit_bytes_; }
  std::size_t used_bytes() const { return used_bytes_; }
  std::size_t waiting() const;
  bool has_waiters() const { return has_waiters_; }

  // All of it, when there is room and nobody waits who goes first; more than the limit only when nothing else is held.
  // Else empty.
  memory_lease try_take(std::size_t size_bytes);
  // `granted` runs once with a lease of all of it, maybe inside this call; not, or under way on another thread, once
  // the wait has ended.
  [[nodiscard]] memory_wait take_when_free(std::size_t size_bytes, unique_function<void(memory_lease)> granted);
  // What there is, up to `size_bytes`, maybe nothing. Does not queue.
  memory_lease take_up_to(std::size_t size_bytes);
  // At once, over the limit if need be. A lease of 0 bytes can be resized.
  memory_lease take(std::size_t size_bytes);

 private:
  friend class memory_lease;
  friend class memory_wait;
  memory_budget(std::size_t limit_bytes, std::size_t small_bytes)
      : limit_bytes_(limit_bytes), small_bytes_(small_bytes) {}

  struct waiter {
    std::size_t size_bytes;
    unique_function<void(memory_lease)> granted;
  };

  using queue = std::map<std::uint64_t, waiter>;  // by place, which is the order of asking

  bool is_small(std::size_t size_bytes) const { return size_bytes <= small_bytes_; }
  bool fits(std::size_t size_bytes, std::size_t used) const;
  bool take_if_fits(std::size_t size_bytes);
  void give_back(std::size_t size_bytes);
  void forget(std::uint64_t place);
  void serve_waiters();
  bool serve(queue& waiting, std::vector<waiter>& served);

  const std::size_t limit_bytes_;
  const std::size_t small_bytes_;
  std::atomic<std::size_t> used_bytes_{0};
  std::atomic<bool> has_waiters_{false};
  mutable std::mutex mutex_;
  std::uint64_t last_place_ = 0;
  queue small_waiters_;
  queue large_waiters_;
};

}  // namespace braidmq
