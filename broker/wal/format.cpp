#include "wal/format.hpp"

#include <algorithm>
#include <charconv>

#include "base/check.hpp"
#include "base/crc32c.hpp"
#include "base/endian.hpp"

namespace braidmq::wal::format {
namespace {

constexpr std::size_t name_digits = 20;
constexpr std::string_view name_suffix = ".wal";
constexpr std::string_view spare_prefix = "spare-";
constexpr std::size_t header_crc_begin = 8;  // what is before it, the group's CRC, covers this one
constexpr std::size_t hard_state_bytes = 8 + 4 + 16 + 8;
constexpr std::size_t state_bytes = 4 + hard_state_bytes + 8 + 8;
constexpr std::size_t item_head_bytes = 4 + 1 + 4;
constexpr std::size_t entry_head_bytes = 8 + 1 + 4;
constexpr std::uint8_t item_has_state = 1;

byte_view view_of(const uuid& id) {
  return {reinterpret_cast<const std::byte*>(id.octets.data()), id.octets.size()};
}

// Reads integers from the front. Once something did not fit, all that follows is zero and ok() is false.
class reader {
 public:
  explicit reader(byte_view from) : from_(from) {}

  template <class Int>
  Int take() {
    if (!have(sizeof(Int))) return Int{};
    const Int value = load_be<Int>(from_.data() + position_);
    position_ += sizeof(Int);
    return value;
  }
  uuid take_uuid() {
    uuid id;
    if (!have(id.octets.size())) return id;
    for (auto& octet : id.octets) octet = std::to_integer<std::uint8_t>(from_[position_++]);
    return id;
  }
  // Where `size` bytes begin that are passed over.
  std::size_t skip(std::size_t size) {
    const std::size_t at = position_;
    if (have(size)) position_ += size;
    return at;
  }
  std::size_t left() const { return from_.size() - position_; }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && left() == 0; }

 private:
  bool have(std::size_t size) {
    if (size > left()) ok_ = false;
    return ok_;
  }

  byte_view from_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

void append_hard_state(byte_buffer& to, const raft::hard_state& state) {
  to.append_be(state.term.value());
  to.append_be(state.vote.broker);
  to.append(view_of(state.vote.incarnation));
  to.append_be(state.commit.value());
}

raft::hard_state take_hard_state(reader& from) {
  raft::hard_state state;
  state.term = raft::term(from.take<std::uint64_t>());
  state.vote.broker = from.take<std::int32_t>();
  state.vote.incarnation = from.take_uuid();
  state.commit = raft::index(from.take<std::uint64_t>());
  return state;
}

auto malformed(std::string words) {
  return fail(errc::corrupt, std::move(words));
}

}  // namespace

std::string file_name(std::uint64_t file_sequence) {
  return fmt::format("{:020}{}", file_sequence, name_suffix);
}

std::optional<std::uint64_t> parse_file_name(std::string_view name) {
  if (name.size() != name_digits + name_suffix.size() || !name.ends_with(name_suffix)) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name_digits, value);
  if (code != std::errc() || end != name.data() + name_digits || value == 0) return std::nullopt;
  return value;
}

std::string spare_name(std::uint64_t number) {
  return fmt::format("{}{}", spare_prefix, file_name(number));
}

std::optional<std::uint64_t> parse_spare_name(std::string_view name) {
  if (!name.starts_with(spare_prefix)) return std::nullopt;
  return parse_file_name(name.substr(spare_prefix.size()));
}

std::uint32_t crc_seed(const uuid& incarnation) {
  return crc32c(view_of(incarnation));
}

void append_file_header(byte_buffer& to, const file_header& header) {
  const std::size_t start = to.size();
  to.append_be(file_magic);
  to.append_be(version);
  to.append_be(static_cast<std::uint32_t>(block_bytes));
  to.append(view_of(header.incarnation));
  to.append_be(header.file_sequence);
  to.append_be(header.first_group);
  to.append_zeros(start + file_crc_position - to.size());
  to.append_be(crc32c(to.view().subspan(start, file_crc_position)));
}

result<file_header> parse_file_header(byte_view block) {
  BRAID_CHECK(block.size() == block_bytes);
  reader from(block);
  if (from.take<std::uint64_t>() != file_magic) {
    return fail(errc::wrong_format, "does not begin as a WAL file does: not a WAL, or its first bytes are damaged");
  }
  const auto stored_version = from.take<std::uint32_t>();
  const bool sound = load_be<std::uint32_t>(block.data() + file_crc_position) == crc32c(block.first(file_crc_position));
  // A later version may keep its checksum elsewhere, so its number counts even when ours does not fit.
  if (stored_version > version || (sound && stored_version != version)) {
    return fail(errc::wrong_format, fmt::format("has format version {}, this program knows version {}{}",
                                                stored_version, version, sound ? "" : " (or the header is damaged)"));
  }
  if (!sound) return fail(errc::corrupt, "the header's checksum at byte 4092 does not fit");
  const auto stored_block = from.take<std::uint32_t>();
  if (stored_block != block_bytes) {
    return fail(errc::wrong_format,
                fmt::format("has blocks of {} bytes, this program's have {}", stored_block, block_bytes));
  }
  file_header header;
  header.incarnation = from.take_uuid();
  header.file_sequence = from.take<std::uint64_t>();
  header.first_group = from.take<std::uint64_t>();
  return header;
}

void begin_group(byte_buffer& to) {
  to.clear();
  to.append_zeros(group_header_bytes);
}

void seal_group(byte_buffer& group, group_header& header, std::uint32_t seed) {
  const std::size_t payload = group.size() - group_header_bytes;
  BRAID_CHECK(payload <= max_payload_bytes, "group write of {} bytes", payload);
  header.payload_bytes = static_cast<std::uint32_t>(payload);
  group.append_zeros(group_size(header.payload_bytes) - group.size());
  group.put_be(0, group_magic);
  group.put_be(8, header.payload_bytes);
  group.put_be(12, static_cast<std::uint32_t>(header.kind));
  group.put_be(16, header.sequence);
  group.put_be(24, header.durable);
  group.put_be(32, header.position);
  group.put_be(40, header.previous_crc);
  const byte_view covered = group.view().subspan(header_crc_begin, header_crc_position - header_crc_begin);
  group.put_be(header_crc_position, crc32c(covered, seed));
  header.crc = crc32c(group.view().subspan(group_crc_position + 4), seed);
  group.put_be(group_crc_position, header.crc);
}

std::optional<group_header> parse_group_header(byte_view block, std::uint64_t position, std::uint32_t seed) {
  if (block.size() < group_header_bytes) return std::nullopt;
  reader from(block);
  if (from.take<std::uint32_t>() != group_magic) return std::nullopt;
  const byte_view covered = block.subspan(header_crc_begin, header_crc_position - header_crc_begin);
  if (crc32c(covered, seed) != load_be<std::uint32_t>(block.data() + header_crc_position)) return std::nullopt;
  group_header header;
  header.crc = from.take<std::uint32_t>();
  header.payload_bytes = from.take<std::uint32_t>();
  const auto kind = from.take<std::uint32_t>();
  header.sequence = from.take<std::uint64_t>();
  header.durable = from.take<std::uint64_t>();
  header.position = from.take<std::uint64_t>();
  header.previous_crc = from.take<std::uint32_t>();
  if (header.position != position || header.payload_bytes > max_payload_bytes || kind < 1 || kind > 3)
    return std::nullopt;
  header.kind = static_cast<group_kind>(kind);
  return header;
}

bool is_sound(byte_view group, const group_header& header, std::uint32_t seed) {
  return group.size() == group_size(header.payload_bytes) &&
         crc32c(group.subspan(group_crc_position + 4), seed) == header.crc;
}

void append_states(byte_buffer& to, const group_states& states) {
  to.append_be(static_cast<std::uint32_t>(states.size()));
  for (const auto& [group, state] : states) {
    to.append_be(group.value());
    append_hard_state(to, state.state);
    to.append_be(state.last_index.value());
    to.append_be(state.last_term.value());
  }
}

result<group_states> parse_states(byte_view payload) {
  reader from(payload);
  const auto count = from.take<std::uint32_t>();
  if (count > from.left() / state_bytes) return malformed("more group states than bytes");
  group_states states;
  for (std::uint32_t i = 0; i < count; ++i) {
    const raft::group_id group(from.take<std::uint32_t>());
    group_state& state = states[group];
    state.state = take_hard_state(from);
    state.last_index = raft::index(from.take<std::uint64_t>());
    state.last_term = raft::term(from.take<std::uint64_t>());
  }
  if (!from.done() || states.size() != count) return malformed("group states do not fill their payload");
  return states;
}

std::size_t item_size(const append_item& item) {
  std::size_t size = item_head_bytes + (item.state ? hard_state_bytes : 0) + (item.entries.empty() ? 0 : 8);
  for (const raft::entry& entry : item.entries) size += entry_head_bytes + entry.payload.size();
  return size;
}

void encode_item(byte_buffer& to, const append_item& item) {
  to.append_be(item.group.value());
  to.append_be(static_cast<std::uint8_t>(item.state ? item_has_state : 0));
  to.append_be(static_cast<std::uint32_t>(item.entries.size()));
  if (item.state) append_hard_state(to, *item.state);
  if (item.entries.empty()) return;
  to.append_be(item.entries.front().index.value());
  for (const raft::entry& entry : item.entries) {
    to.append_be(entry.term.value());
    to.append_be(static_cast<std::uint8_t>(entry.kind));
    to.append_be(static_cast<std::uint32_t>(entry.payload.size()));
    to.append(entry.payload);
  }
}

result<std::vector<append_item>> parse_items(const bytes& group, const group_header& header) {
  reader from(payload_of(group, header));
  std::vector<append_item> items;
  while (from.ok() && from.left() > 0) {
    append_item& item = items.emplace_back();
    item.group = raft::group_id(from.take<std::uint32_t>());
    const auto flags = from.take<std::uint8_t>();
    const auto count = from.take<std::uint32_t>();
    if (flags > item_has_state) return malformed(fmt::format("item with unknown flags {}", flags));
    if (flags == item_has_state) item.state = take_hard_state(from);
    if (count == 0) continue;
    if (count > from.left() / entry_head_bytes) return malformed("more entries than bytes");
    raft::index next(from.take<std::uint64_t>());
    item.entries.reserve(count);
    for (std::uint32_t i = 0; i < count && from.ok(); ++i, ++next) {
      const raft::term term(from.take<std::uint64_t>());
      const auto kind = from.take<std::uint8_t>();
      const auto size = from.take<std::uint32_t>();
      const std::size_t at = group_header_bytes + from.skip(size);
      if (!from.ok()) break;
      if (kind > static_cast<std::uint8_t>(raft::entry_kind::command)) {
        return malformed(fmt::format("entry of unknown kind {}", kind));
      }
      item.entries.push_back({term, next, static_cast<raft::entry_kind>(kind), group.slice(at, size)});
    }
  }
  if (!from.ok()) return malformed("an item runs past its group write");
  return items;
}

bool advance(group_state& state, const append_item& item) {
  if (item.state) state.state = *item.state;
  if (item.entries.empty()) return true;
  const raft::index first = item.entries.front().index;
  if (first == raft::index(0) || first > state.last_index + 1) return false;
  raft::index expected = first;
  raft::term term(1);
  for (const raft::entry& entry : item.entries) {
    if (entry.index != expected || entry.term < term) return false;
    term = entry.term;
    ++expected;
  }
  state.last_index = item.entries.back().index;
  state.last_term = item.entries.back().term;
  return true;
}

}  // namespace braidmq::wal::format
