#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ctl/commands.hpp"
#include "ctl/output.hpp"
#include "io/file_system.hpp"
#include "model/compression.hpp"
#include "storage/inspect.hpp"

namespace braidmq::ctl {
namespace {

using nlohmann::json;

std::string codec_of(const model::batch_header& header) {
  const auto codec = header.codec();
  return codec ? std::string(model::compression_name(*codec)) : fmt::format("unknown ({})", header.codec_id());
}

class segment_printer final : public storage::segment_visitor {
 public:
  explicit segment_printer(context& with) : with_(with) {}

  void on_segment(const std::string& path, std::uint64_t size_bytes) override {
    if (with_.as == format::json)
      line({{"file", path}, {"bytes", size_bytes}});
    else
      with_.out << fmt::format("{}: {} bytes\n", path, size_bytes);
  }

  void on_batch(std::uint64_t position, const model::batch_header& header, bool crc_matches) override {
    if (with_.as == format::json) {
      line({{"position", position},
            {"bytes", header.size_bytes()},
            {"baseOffset", header.base_offset.value()},
            {"lastOffset", header.last_offset().value()},
            {"count", header.record_count},
            {"baseTimestamp", header.base_timestamp_ms},
            {"maxTimestamp", header.max_timestamp_ms},
            {"timestampType",
             header.timestamps() == model::timestamp_type::log_append_time ? "LogAppendTime" : "CreateTime"},
            {"codec", codec_of(header)},
            {"producerId", header.producer_id.value()},
            {"producerEpoch", header.producer_epoch.value()},
            {"baseSequence", header.base_sequence.value()},
            {"leaderEpoch", header.partition_leader_epoch.value()},
            {"transactional", header.is_transactional()},
            {"control", header.is_control()},
            {"crcMatches", crc_matches}});
      return;
    }
    std::string more;
    if (header.has_producer()) {
      more = fmt::format(", producer {} epoch {} sequence {}", header.producer_id, header.producer_epoch,
                         header.base_sequence);
    }
    if (header.is_transactional()) more += ", transactional";
    if (header.is_control()) more += ", control";
    with_.out << fmt::format(
        "  byte {:>10}  offsets {} to {}, {} records, times {} to {}, {}, {} bytes, leader epoch {}{}{}\n", position,
        header.base_offset, header.last_offset(), header.record_count, time_text(header.base_timestamp_ms),
        time_text(header.max_timestamp_ms), codec_of(header), header.size_bytes(), header.partition_leader_epoch, more,
        crc_matches ? "" : ", CRC WRONG");
  }

  void on_damage(const std::string& path, std::uint64_t position, const std::string& what) override {
    if (with_.as == format::json) line({{"file", path}, {"position", position}, {"damage", what}});
    with_.out.flush();
    with_.err << printable(fmt::format("braidctl: {} at byte {}: {}", path, position, what)) << std::endl;
  }

  void on_end(const std::string& path, const storage::segment_summary& summary) override {
    const auto entries = [](const std::optional<std::uint64_t>& count) { return count ? json(*count) : json(); };
    if (with_.as == format::json) {
      line({{"file", path},
            {"batches", summary.batches},
            {"readBytes", summary.bytes},
            {"endOffset", summary.end.value()},
            {"indexEntries", entries(summary.offset_index_entries)},
            {"timeIndexEntries", entries(summary.time_index_entries)}});
      return;
    }
    const auto shown = [](const std::optional<std::uint64_t>& count) { return count ? std::to_string(*count) : "no"; };
    with_.out << fmt::format("{}: {} batches in {} bytes, {} entries in .index, {} in .timeindex\n", path,
                             summary.batches, summary.bytes, shown(summary.offset_index_entries),
                             shown(summary.time_index_entries));
  }

 private:
  void line(const json& value) { with_.out << value.dump(-1, ' ', false, json::error_handler_t::replace) << '\n'; }

  context& with_;
};

}  // namespace

int dump_segments(context& with, const std::vector<std::string>& paths) {
  int code = exit_good;
  for (const std::string& path : paths) {
    segment_printer shown(with);
    const auto sound = storage::inspect_segment(io::posix_file_system(), path, shown);
    if (!sound)
      code = refuse(with, sound.error());
    else if (!*sound)
      code = exit_refused;
  }
  with.out.flush();
  return code;
}

}  // namespace braidmq::ctl
