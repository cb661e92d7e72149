// Distinct types for ids, offsets, terms and epochs: two of them never mix, and none turns into an integer by itself.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>

#include <fmt/format.h>

namespace braidmq {

template <class Tag, class Rep>
class strong_id {
 public:
  using rep = Rep;

  constexpr strong_id() = default;
  constexpr explicit strong_id(Rep value) : value_(value) {}

  constexpr Rep value() const { return value_; }

  friend constexpr auto operator<=>(strong_id, strong_id) = default;

  // Distances are plain integers: offset + count = offset, offset - offset = count.
  friend constexpr strong_id operator+(strong_id a, Rep n) { return strong_id(static_cast<Rep>(a.value_ + n)); }
  friend constexpr strong_id operator-(strong_id a, Rep n) { return strong_id(static_cast<Rep>(a.value_ - n)); }
  friend constexpr Rep operator-(strong_id a, strong_id b) { return static_cast<Rep>(a.value_ - b.value_); }
  constexpr strong_id& operator++() {
    ++value_;
    return *this;
  }

 private:
  Rep value_{};
};

}  // namespace braidmq

template <class Tag, class Rep>
struct std::hash<braidmq::strong_id<Tag, Rep>> {
  std::size_t operator()(braidmq::strong_id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value()); }
};

template <class Tag, class Rep>
struct fmt::formatter<braidmq::strong_id<Tag, Rep>> : fmt::formatter<Rep> {
  template <class Context>
  auto format(braidmq::strong_id<Tag, Rep> id, Context& context) const {
    return fmt::formatter<Rep>::format(id.value(), context);
  }
};
