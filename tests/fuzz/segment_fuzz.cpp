// The files of a partition: arbitrary bytes, or sound ones that are changed as the input says, with checksums that were
// made to fit or not. What opens must be whole: contiguous batches with good CRCs up to the offset that was asked for
// and, where no checksum was made to fit, the very bytes that were written. What a log has opened, the inspection must
// find sound; what it has not, it must read without harm.
//
// Byte 0: 1 sound files are changed, 2 checksums are made to fit, 4 records are searched by time. Byte 1: the offset
// below which all is to be kept.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "base/endian.hpp"
#include "model/batch_builder.hpp"
#include "model/record_batch.hpp"
#include "storage/inspect.hpp"
#include "storage/partition_log.hpp"
#include "support/manual_executor.hpp"
#include "support/sim_file_system.hpp"

namespace {

using namespace braidmq;

const std::string folder = "/p";
const storage::log_options options{
    .segments = {.bytes = 700},
    .index_interval_bytes = 150,
    .cache_bytes = 0,
    .decode = {.max_output_bytes = 1U << 16U, .max_chunk_bytes = 1U << 16U, .zstd_window_log_max = 16}};
constexpr std::int64_t batches = 12;
constexpr std::int64_t records_per_batch = 2;

using files = std::map<std::string, std::vector<std::byte>>;

class silent final : public storage::segment_visitor {
 public:
  void on_segment(const std::string&, std::uint64_t) override {}
  void on_batch(std::uint64_t, const model::batch_header&, bool) override {}
  void on_damage(const std::string&, std::uint64_t, const std::string&) override {}
  void on_end(const std::string&, const storage::segment_summary&) override {}
};

struct life {
  explicit life(io::file_system& fs, std::int64_t keep_below) {
    if (auto opened = storage::partition_log::open(fs, disk, owner, folder, options, model::offset(keep_below), {}))
      log = std::move(*opened);
  }

  std::vector<bytes> read_all() {
    std::optional<result<std::vector<bytes>>> got;
    log->read({log->start_offset(), log->end_offset(), 1U << 20U}, [&](auto answer) { got = std::move(answer); });
    loop.run_until_idle();
    BRAID_CHECK(got && *got, "what was kept cannot be read");
    return std::move(**got);
  }
  // By time: whatever records say of themselves.
  void search(std::int64_t time) {
    log->find_timestamp(time, log->end_offset(), [](const auto&) {});
    log->find_max_timestamp(log->end_offset(), [](const auto&) {});
    loop.run_until_idle();
  }

  sim::manual_loop loop;
  sim::manual_executor disk{loop};
  sim::manual_executor owner{loop};
  std::unique_ptr<storage::partition_log> log;
};

struct original {
  original() {
    BRAID_CHECK(fs.make_directories(folder).has_value());
    life first(fs, 0);
    for (std::int64_t i = 0; i < batches; ++i) {
      const auto codec = static_cast<model::compression>(i % 3 == 0 ? 1 + i / 3 : 0);
      model::batch_builder builder({.codec = codec,
                                    .base_offset = model::offset(i * records_per_batch),
                                    .partition_leader_epoch = model::leader_epoch(static_cast<std::int32_t>(i / 4))});
      for (std::int64_t r = 0; r < records_per_batch; ++r) builder.add("key", std::string(40, 'v'), 1000 + i * 7 % 5);
      const bytes batch = *builder.build();
      content.push_back(batch);
      const auto header = *model::parse_batch_header(batch);
      first.log->append({batch, header.base_offset, header.last_offset(), header.max_timestamp_ms});
    }
    first.log->drain([](const status& done) { BRAID_CHECK(done.has_value()); });
    first.loop.run_until_idle();
    const auto names = fs.list(folder);
    for (const std::string& name : *names) {
      auto& bytes_of = written[folder + "/" + name];
      const auto file = *fs.open(folder + "/" + name, io::open_mode::read);
      bytes_of.resize(*file->size());
      BRAID_CHECK(file->read_at(0, bytes_of).has_value());
    }
    BRAID_CHECK(written.size() >= 6, "{} files", written.size());
  }

  sim::sim_file_system fs;
  files written;
  std::vector<bytes> content;
};

// Of 4 bytes each: file, position (16 bits), value; a file may also be cut.
files changed(const files& from, const std::uint8_t* data, std::size_t size) {
  files made = from;
  for (std::size_t at = 0; at + 4 <= size; at += 4) {
    auto file = made.begin();
    std::advance(file, data[at] % made.size());
    auto& content = file->second;
    const std::size_t position = data[at + 1] * 256U + data[at + 2];
    if (data[at] >= 250)
      content.resize(std::min(content.size(), position));
    else if (!content.empty())
      content[position % content.size()] ^= static_cast<std::byte>(data[at + 3]);
  }
  return made;
}

// Pieces of the input with their lengths before them, one for each file of two segments.
files arbitrary(const std::uint8_t* data, std::size_t size, std::int64_t second_base) {
  files made;
  std::size_t at = 0;
  for (const std::int64_t base : {std::int64_t{0}, second_base}) {
    for (const char* extension : {".log", ".index", ".timeindex"}) {
      if (at + 2 > size) break;
      const std::size_t length = std::min<std::size_t>(data[at] * 256U + data[at + 1], size - at - 2);
      auto& content = made[fmt::format("{}/{:020}{}", folder, base, extension)];
      const auto* begin = reinterpret_cast<const std::byte*>(data + at + 2);
      content.assign(begin, begin + length);
      at += 2 + length;
    }
  }
  return made;
}

void seal(std::vector<std::byte>& log) {
  namespace layout = model::batch_layout;
  for (std::size_t at = 0; at + layout::header_bytes <= log.size();) {
    const auto header = model::parse_batch_header(byte_view(log).subspan(at));
    if (!header || header->size_bytes() > log.size() - at) return;
    const auto batch = mutable_byte_view(log).subspan(at, header->size_bytes());
    store_be(batch.data() + layout::crc, model::compute_batch_crc(batch));
    at += batch.size();
  }
}

// All but the leader epoch, which no checksum covers.
bool is_what_was_written(byte_view found, byte_view written) {
  namespace layout = model::batch_layout;
  const auto same = [&](std::size_t from, std::size_t to) {
    return std::equal(found.begin() + from, found.begin() + to, written.begin() + from);
  };
  return found.size() == written.size() && same(0, layout::partition_leader_epoch) && same(layout::magic, found.size());
}

void look_at_all(io::file_system& fs, bool must_be_sound) {
  silent shown;
  const auto names = fs.list(folder);
  for (const std::string& name : *names) {
    const auto sound = storage::inspect_segment(fs, folder + "/" + name, shown);
    BRAID_CHECK(sound.has_value(), "{} cannot be read", name);
    if (must_be_sound && name.ends_with(".log")) BRAID_CHECK(*sound, "{} was opened and is damaged", name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static original sound;
  if (size < 2) return 0;
  const bool from_sound = (data[0] & 1U) != 0;
  const bool fitting = (data[0] & 2U) != 0;
  const std::int64_t keep_below = data[1] % (batches * records_per_batch + 3);
  files all = from_sound ? changed(sound.written, data + 2, size - 2) : arbitrary(data + 2, size - 2, data[0] >> 2U);
  sim::sim_file_system fs;
  BRAID_CHECK(fs.make_directories(folder).has_value());
  for (auto& [path, content] : all) {
    if (fitting && path.ends_with(".log")) seal(content);
    BRAID_CHECK((*fs.open(path, io::open_mode::create))->write_at(0, content).has_value());
  }
  look_at_all(fs, false);

  life next(fs, keep_below);
  if (next.log == nullptr) return 0;
  BRAID_CHECK(next.log->end_offset() == model::offset(keep_below), "ends at {}", next.log->end_offset());
  std::int64_t expected = 0;
  for (const bytes& batch : next.read_all()) {
    const auto header = model::check_whole_batch(batch);
    BRAID_CHECK(header.has_value(), "a damaged batch was kept");
    BRAID_CHECK(header->base_offset.value() == expected, "offset {} is missing", expected);
    expected = header->last_offset().value() + 1;
    if (!from_sound || fitting) continue;
    const bytes& written = sound.content.at(static_cast<std::size_t>(header->base_offset.value() / records_per_batch));
    BRAID_CHECK(is_what_was_written(batch, written), "offset {} is not what was written", header->base_offset);
  }
  BRAID_CHECK(expected == keep_below, "kept up to {} of {}", expected, keep_below);
  if ((data[0] & 4U) != 0) next.search(static_cast<std::int64_t>(data[0]) * 20);
  look_at_all(fs, true);
  return 0;
}
