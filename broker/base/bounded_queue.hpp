// A FIFO with a bound in bytes and in items. Single-threaded: between threads, items travel by io::executor::post.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "base/check.hpp"

namespace braidmq {

template <class T>
class bounded_queue {
 public:
  bounded_queue(std::size_t max_items, std::size_t max_bytes) : max_items_(max_items), max_bytes_(max_bytes) {}

  // False, and the item stays with the caller, when it does not fit. One item larger than the byte bound fits into an
  // empty queue, or it would wait for ever.
  [[nodiscard]] bool try_push(T& item, std::size_t size_bytes) {
    if (!fits(size_bytes)) return false;
    items_.emplace_back(std::move(item), size_bytes);
    bytes_ += size_bytes;
    return true;
  }
  bool fits(std::size_t size_bytes) const {
    if (items_.empty()) return true;
    return items_.size() < max_items_ && bytes_ <= max_bytes_ && size_bytes <= max_bytes_ - bytes_;
  }

  bool empty() const { return items_.empty(); }
  std::size_t size() const { return items_.size(); }
  std::size_t size_bytes() const { return bytes_; }
  const T& front() const {
    BRAID_CHECK(!items_.empty());
    return items_.front().first;
  }
  std::size_t front_size_bytes() const {
    BRAID_CHECK(!items_.empty());
    return items_.front().second;
  }
  T pop() {
    BRAID_CHECK(!items_.empty());
    T item = std::move(items_.front().first);
    bytes_ -= items_.front().second;
    items_.pop_front();
    return item;
  }

 private:
  std::size_t max_items_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::deque<std::pair<T, std::size_t>> items_;
};

}  // namespace braidmq
