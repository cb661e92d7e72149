// The bytes of a WAL file: constants, and coders for its four structures. docs/formats/wal.md says the same in words
// and why. Pure functions; all integers big-endian.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/uuid.hpp"
#include "raft/types.hpp"
#include "wal/log.hpp"

namespace braidmq::wal::format {

inline constexpr std::size_t block_bytes = 4096;
inline constexpr std::uint32_t version = 2;
inline constexpr std::uint64_t file_magic = 0x4252414944'57414cU;  // "BRAIDWAL"
inline constexpr std::uint32_t group_magic = 0x42475250U;          // "BGRP"

inline constexpr std::size_t file_crc_position = block_bytes - 4;  // covers all before it
inline constexpr std::size_t group_crc_position = 4;
inline constexpr std::size_t header_crc_position = 44;
inline constexpr std::size_t group_header_bytes = 56;
inline constexpr std::size_t max_payload_bytes = (1U << 30U) - block_bytes;
static_assert(group_header_bytes < block_bytes && block_bytes % 512 == 0);

// One block at the start of each file.
struct file_header {
  uuid incarnation;                 // random, renewed when a file is made or used again; seeds every group's CRC
  std::uint64_t file_sequence = 0;  // as in the file's name
  std::uint64_t first_group = 0;    // sequence number of the file's first group write, the state group
};

enum class group_kind : std::uint8_t {
  state = 1,  // first of a file: where every Raft group stands
  items = 2,  // appends
  mark = 3,   // no payload; only names the durable position
};

struct group_header {
  group_kind kind = group_kind::items;
  std::uint32_t payload_bytes = 0;
  std::uint64_t sequence = 0;      // of group writes, through all files, without gaps
  std::uint64_t durable = 0;       // the highest sequence that was known to be durable when this was written
  std::uint64_t position = 0;      // of this header in its file
  std::uint32_t previous_crc = 0;  // of the group write before, also over a file's end; 0 for the first of all
  std::uint32_t crc = 0;           // filled in by seal_group and parse_group_header
};

// What a state group says of a Raft group.
struct group_state {
  raft::hard_state state;
  raft::index last_index;
  raft::term last_term;

  friend bool operator==(const group_state&, const group_state&) = default;
};
using group_states = std::map<raft::group_id, group_state>;

std::string file_name(std::uint64_t file_sequence);            // "00000000000000000001.wal"
inline constexpr std::string_view unfinished_suffix = ".tmp";  // a file that is being made: may be removed
std::optional<std::uint64_t> parse_file_name(std::string_view name);

// Files of full size that wait to be used: what is in them means nothing.
std::string spare_name(std::uint64_t number);  // "spare-00000000000000000001.wal"
std::optional<std::uint64_t> parse_spare_name(std::string_view name);

constexpr std::uint64_t whole_blocks(std::uint64_t bytes) {
  return (bytes + block_bytes - 1) / block_bytes * block_bytes;
}
constexpr std::uint64_t group_size(std::uint32_t payload_bytes) {
  return whole_blocks(group_header_bytes + payload_bytes);
}

std::uint32_t crc_seed(const uuid& incarnation);

void append_file_header(byte_buffer& to, const file_header& header);
// `block` has block_bytes. The error's words lack the file's name.
result<file_header> parse_file_header(byte_view block);

// A group write is built in place: begin_group, payload, seal_group (lengths, padding, CRC).
void begin_group(byte_buffer& to);
void seal_group(byte_buffer& group, group_header& header, std::uint32_t seed);

// The header at the start of `block`, when its own CRC says that it was written for this place of this file, whatever
// has become of what follows. Its group is of group_size(payload_bytes) bytes.
std::optional<group_header> parse_group_header(byte_view block, std::uint64_t position, std::uint32_t seed);
// Whether `group`, of the size that its header says, is whole.
bool is_sound(byte_view group, const group_header& header, std::uint32_t seed);
inline byte_view payload_of(byte_view group, const group_header& header) {
  return group.subspan(group_header_bytes, header.payload_bytes);
}

void append_states(byte_buffer& to, const group_states& states);
result<group_states> parse_states(byte_view payload);

void encode_item(byte_buffer& to, const append_item& item);
std::size_t item_size(const append_item& item);
// The entries' payloads share `group`, whose payload begins after the header.
result<std::vector<append_item>> parse_items(const bytes& group, const group_header& header);

// Follows what an item does to the state of its Raft group. False when the item cannot follow: a gap, a jump, term 0.
bool advance(group_state& state, const append_item& item);

}  // namespace braidmq::wal::format
