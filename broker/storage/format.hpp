// Constants of the files of a partition; docs/formats/segment.md describes them in words. Integers are big-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "model/ids.hpp"

namespace braidmq::storage {

// Positions in a segment are u32 in the indexes; one bit is left so that sums of two of them cannot wrap.
inline constexpr std::uint64_t max_segment_bytes = std::numeric_limits<std::int32_t>::max();

inline constexpr std::size_t offset_index_entry_bytes = 8;  // relative offset u32, position u32
inline constexpr std::size_t time_index_entry_bytes = 12;   // timestamp i64, relative offset u32

enum class file_kind { log, offset_index, time_index };

struct segment_file_name {
  model::offset base;
  file_kind kind;

  friend bool operator==(const segment_file_name&, const segment_file_name&) = default;
};

// "00000000000000000042.log"
std::string segment_file(model::offset base, file_kind kind);

// None when the name is not exactly one that segment_file makes: such files are not ours and stay as they are.
std::optional<segment_file_name> parse_segment_file(std::string_view name);

}  // namespace braidmq::storage
