// A write-ahead log of a few files, changed as the input says. Changed bytes alone must be refused or be without
// effect: the log ends with a mark, so that everything in it is vouched for. With checksums that were made to fit (bit
// 0 of the first byte), anything may come out of it, but in order and within bounds.
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/check.hpp"
#include "base/crc32c.hpp"
#include "base/endian.hpp"
#include "support/manual_executor.hpp"
#include "support/manual_timers.hpp"
#include "support/sim_file_system.hpp"
#include "support/sim_random.hpp"
#include "wal/format.hpp"
#include "wal/log.hpp"

namespace {

using namespace braidmq;

constexpr raft::group_id group{1};
constexpr std::uint64_t entries = 9;
const wal::options options{.folder = "/wal", .file_bytes = 24 << 10};

class seeded_random final : public io::random_source {
 public:
  void fill(mutable_byte_view target) override {
    for (std::byte& byte : target) byte = static_cast<std::byte>(rng_());
  }

 private:
  sim::rng rng_{1};
};

struct life {
  explicit life(sim::sim_file_system& fs) {
    if (auto opened = wal::log::open({fs, disk, disk, owner, timers, random, clock}, options)) wal = std::move(*opened);
  }

  seeded_random random;
  sim::manual_clock clock;
  sim::manual_loop loop;
  sim::manual_executor disk{loop};
  sim::manual_executor owner{loop};
  sim::manual_timers timers{clock, owner};
  std::unique_ptr<wal::log> wal;
};

std::vector<raft::entry> read_all(life& of) {
  std::vector<raft::entry> all;
  for (const auto& known : of.wal->recovered()) {
    if (known.group != group) continue;
    for (raft::index next = known.first_index; next > raft::index(0) && next <= known.last_index;) {
      std::optional<result<std::vector<raft::entry>>> got;
      of.wal->read(group, next, 1U << 20U, [&](auto answer) { got = std::move(answer); });
      of.loop.run_until_idle();
      BRAID_CHECK(got && *got && !(*got)->empty(), "entry {} cannot be read", next);
      for (auto& entry : **got) {
        BRAID_CHECK(entry.index == next, "entry {} where {} belongs", entry.index, next);
        ++next;
        all.push_back(std::move(entry));
      }
    }
  }
  return all;
}

struct original {
  original() {
    BRAID_CHECK(fs.make_directories("/wal").has_value());
    life first(fs);
    for (std::uint64_t i = 1; i <= entries; ++i) {
      const raft::entry entry{raft::term(1), raft::index(i), raft::entry_kind::command,
                              bytes::copy_of(std::string(i * 700, 'e'))};
      first.wal->append({group, raft::hard_state{raft::term(1), {}, raft::index(i - 1)}, {entry}},
                        [](const status&) {});
      first.loop.run_until_idle();
    }
    first.timers.advance(options.mark_delay);
    first.loop.run_until_idle();
    content = read_all_again();
    const auto names = fs.list("/wal");
    for (const auto& name : *names) {
      if (wal::format::parse_file_name(name)) files.push_back("/wal/" + name);
    }
  }

  std::vector<raft::entry> read_all_again() {
    life next(fs);
    return read_all(next);
  }

  sim::sim_file_system fs;
  std::vector<raft::entry> content;
  std::vector<std::string> files;
};

// Gives the group write or the header at this block the checksums that its bytes ask for.
void seal(std::vector<std::byte>& file, std::size_t block) {
  namespace format = wal::format;
  const std::size_t at = block * format::block_bytes;
  if (at + format::block_bytes > file.size()) return;
  if (block == 0) {
    store_be(file.data() + format::file_crc_position, crc32c(byte_view(file).first(format::file_crc_position)));
    return;
  }
  const std::uint32_t seed = crc32c(byte_view(file).subspan(16, 16));
  const auto payload = load_be<std::uint32_t>(file.data() + at + 8);
  const std::uint64_t size = format::group_size(payload);
  store_be(file.data() + at + format::header_crc_position, crc32c(byte_view(file).subspan(at + 8, 36), seed));
  if (payload > format::max_payload_bytes || size > file.size() - at) return;
  store_be(file.data() + at + format::group_crc_position, crc32c(byte_view(file).subspan(at + 8, size - 8), seed));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static original sound;
  if (size < 1) return 0;
  const bool fitting = (data[0] & 1U) != 0;
  const auto fs = sound.fs.copy(1);
  std::map<std::string, std::vector<std::byte>> changed;
  // Of 6 bytes each: file, position (16 bits of it, and which block), value, count.
  for (std::size_t at = 1; at + 6 <= size; at += 6) {
    const std::size_t chosen = fitting ? at : 1;  // one block only, when nothing is made to fit
    const std::string& path = sound.files[data[chosen] % sound.files.size()];
    auto file = *fs->open(path, io::open_mode::read_write);
    auto& content = changed[path];
    if (content.empty()) {
      content.resize(*file->size());
      (void)file->read_at(0, content);
    }
    const std::size_t block = data[chosen + 1] % (content.size() / wal::format::block_bytes);
    const std::size_t inside = (data[at + 2] * 256U + data[at + 3]) % wal::format::block_bytes;
    for (std::size_t i = 0; i < 1U + data[at + 5] % 16U && inside + i < wal::format::block_bytes; ++i) {
      content[block * wal::format::block_bytes + inside + i] = static_cast<std::byte>(data[at + 4]);
    }
    if (fitting) seal(content, block);
  }
  for (const auto& [path, content] : changed) (void)(*fs->open(path, io::open_mode::read_write))->write_at(0, content);

  life next(*fs);
  if (next.wal == nullptr) return 0;
  const auto found = read_all(next);
  if (!fitting) BRAID_CHECK(found == sound.content, "opened with {} entries of {}", found.size(), sound.content.size());
  return 0;
}
