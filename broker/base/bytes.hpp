// Byte storage. `byte_view` looks at bytes of somebody else; `bytes` shares ownership of an immutable block, so that a
// record batch travels from socket to log entry to fetch answer without a copy; `byte_buffer` grows and is frozen into
// `bytes`. A `bytes` may be copied and dropped on any thread; the block itself never changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/memory_budget.hpp"

namespace braidmq {

using byte_view = std::span<const std::byte>;
using mutable_byte_view = std::span<std::byte>;

inline byte_view as_byte_view(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_string_view(byte_view view) {
  return {reinterpret_cast<const char*>(view.data()), view.size()};
}

class bytes {
 public:
  bytes() = default;

  static bytes copy_of(byte_view view);
  // All of them one after the other, in one block.
  static bytes joined(std::span<const byte_view> parts);
  static bytes copy_of(std::string_view text) { return copy_of(as_byte_view(text)); }
  static bytes take(std::vector<std::byte>&& block);
  // `lease` is given back when the last `bytes` that shares the block goes.
  static bytes take(std::vector<std::byte>&& block, memory_lease lease);

  const std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  byte_view view() const { return {data_.get(), size_}; }
  operator byte_view() const { return view(); }

  // A part of this block, sharing it. Requires offset + length <= size().
  bytes slice(std::size_t offset, std::size_t length) const {
    BRAID_CHECK(offset <= size_ && length <= size_ - offset, "slice {}+{} of {}", offset, length, size_);
    return bytes(std::shared_ptr<const std::byte>(data_, data_.get() + offset), length);
  }
  bytes slice(std::size_t offset) const { return slice(offset, size_ - offset); }

  friend bool operator==(const bytes& a, const bytes& b);

 private:
  bytes(std::shared_ptr<const std::byte> data, std::size_t size) : data_(std::move(data)), size_(size) {}

  std::shared_ptr<const std::byte> data_;
  std::size_t size_ = 0;
};

// A growing block with big-endian writers (the byte order of the Kafka protocol and of our files). Not thread-safe.
class byte_buffer {
 public:
  byte_buffer() = default;
  explicit byte_buffer(std::size_t capacity) { block_.reserve(capacity); }

  std::size_t size() const { return block_.size(); }
  byte_view view() const { return block_; }
  mutable_byte_view mutable_view() { return block_; }
  void clear() { block_.clear(); }
  void reserve(std::size_t capacity) { block_.reserve(capacity); }
  void resize(std::size_t size) { block_.resize(size); }

  void append(byte_view view) { block_.insert(block_.end(), view.begin(), view.end()); }
  void append(std::string_view text) { append(as_byte_view(text)); }
  void append_zeros(std::size_t count) { block_.resize(block_.size() + count); }

  template <class Int>
  void append_be(Int value) {
    const std::size_t at = block_.size();
    block_.resize(at + sizeof(Int));
    put_be(at, value);
  }
  // Overwrites sizeof(Int) bytes at `position`, which must exist: for lengths and checksums known only later.
  template <class Int>
  void put_be(std::size_t position, Int value) {
    BRAID_CHECK(position + sizeof(Int) <= block_.size());
    using Unsigned = std::make_unsigned_t<Int>;
    auto rest = static_cast<Unsigned>(value);
    for (std::size_t i = sizeof(Int); i-- > 0;) {
      block_[position + i] = static_cast<std::byte>(rest & 0xffU);
      if constexpr (sizeof(Int) > 1) rest = static_cast<Unsigned>(rest >> 8U);
    }
  }

  // Gives the block away and leaves this buffer empty.
  bytes freeze() { return bytes::take(std::exchange(block_, {})); }

 private:
  std::vector<std::byte> block_;
};

}  // namespace braidmq
