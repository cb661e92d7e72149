#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "bench/broker/disk_floor.hpp"
#include "bench/broker/load.hpp"
#include "bench/broker/produce_frame.hpp"
#include "bench/broker/rows.hpp"
#include "bench/broker/samples.hpp"
#include "bench/broker/topics.hpp"

namespace braidmq::bench {
namespace {

constexpr std::int32_t many = 1000;
constexpr std::int32_t few = 16;
constexpr std::size_t connections = 16;
constexpr std::size_t in_flight = 5;
constexpr std::size_t batch = 16;
constexpr std::size_t value_bytes = 1024;
constexpr std::uint64_t bytes_to_write = 2'000'000'000;
constexpr double most_resident_mib = 256;
constexpr double most_start_seconds = 2;
const std::string topic = "many";

struct killed_load {
  std::uint64_t acked_records = 0;
  double wall_seconds = 0;
  double resident_mib = 0;
};

// Writes until enough is acknowledged, and kills the broker while more is under way.
result<killed_load> load_and_kill(broker_process& broker, std::int32_t partitions) {
  BRAID_TRY_VOID(create_topic(broker.where().kafka, topic, partitions));
  std::vector<bytes> frames;
  for (std::int32_t p = 0; p < partitions; ++p) {
    BRAID_TRY(frame, produce_frame({{topic, p, batch, value_bytes}}));
    frames.push_back(std::move(frame));
  }
  BRAID_TRY(client, load::open(broker.where().kafka, connections, in_flight));
  killed_load done;
  result<double> resident = 0.0;
  const io::time_point before = io::system_clock().now();
  BRAID_TRY_VOID(client->run([&](std::uint64_t request) { return frames[request % frames.size()].view(); },
                             [&](const ack&) {
                               done.acked_records += batch;
                               if (done.acked_records * value_bytes < bytes_to_write) return go::on;
                               resident = resident_mib(broker.where().pid, "VmHWM");
                               broker.kill();
                               return go::abandon;
                             }));
  done.wall_seconds = seconds(io::system_clock().now() - before);
  BRAID_TRY(mib, std::move(resident));
  done.resident_mib = mib;
  return done;
}

// Files that hold entries. Those that wait to be used have another name, and are not read by a start.
std::vector<std::string> files_of_log(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& one : std::filesystem::directory_iterator(folder)) {
    if (one.is_regular_file() && one.path().extension() == ".wal" &&
        !one.path().filename().string().starts_with("spare-")) {
      paths.push_back(one.path().string());
    }
  }
  std::ranges::sort(paths);
  return paths;
}

row memory_row(const killed_load& done) {
  row made;
  made.what = "Resident memory, 1,000 partitions under load, at most";
  made.measured = fmt::format("{:.1f} MiB", done.resident_mib);
  made.wanted = fmt::format("< {:.0f} MiB", most_resident_mib);
  made.held = done.resident_mib < most_resident_mib;
  made.note = fmt::format("{} records of 1 KiB in batches of {}, {:.1f} s; {} connections with {} requests each",
                          done.acked_records, batch, done.wall_seconds, connections, in_flight);
  made.figures = {{"resident_mib", done.resident_mib},
                  {"records", static_cast<double>(done.acked_records)},
                  {"wall_s", done.wall_seconds}};
  return made;
}

struct killed_broker {
  killed_load load;
  row start;
};

result<killed_broker> kill_and_start(const bench_options& options, std::int32_t partitions) {
  BRAID_TRY(settings, fresh_broker(options, fmt::format("killed-{}", partitions)));
  BRAID_TRY(first, broker_process::start(settings));
  BRAID_TRY(done, load_and_kill(*first, partitions));

  const auto files = files_of_log(settings.folder + "/wal/braid");
  if (files.empty()) return fail(std::make_error_code(std::errc::no_such_file_or_directory), "no file of the log");
  std::uint64_t log_bytes = 0;
  BRAID_TRY(read, plain_read(files, log_bytes));
  BRAID_TRY(second, broker_process::start(settings));
  BRAID_TRY(records, records_in(second->where().kafka, topic, partitions));
  const auto under_way = static_cast<std::int64_t>(connections * in_flight * batch);
  const auto acked = static_cast<std::int64_t>(done.acked_records);
  if (records < acked || records > acked + under_way) {
    return fail(std::make_error_code(std::errc::bad_message),
                fmt::format("{} records after the start, {} were acknowledged", records, acked));
  }
  BRAID_TRY(resident_after, resident_mib(second->where().pid, "VmRSS"));
  BRAID_TRY_VOID(second->stop());
  std::filesystem::remove_all(settings.folder);

  const double took = seconds(second->start_took());
  const double beyond = took - seconds(read);
  row start;
  start.what = fmt::format("Start after a kill, 2 GB in {} partitions, beyond a plain read of the log", partitions);
  start.measured = fmt::format("{:.2f} s", beyond);
  start.wanted = fmt::format("< {:.0f} s", most_start_seconds);
  start.held = beyond < most_start_seconds;
  start.note =
      fmt::format("ready after {:.2f} s, of which a plain read of {:.0f} MB takes {:.2f} s; then {:.1f} MiB resident",
                  took, static_cast<double>(log_bytes) / 1e6, seconds(read), resident_after);
  start.figures = {{"start_s", took},
                   {"plain_read_s", seconds(read)},
                   {"log_bytes", static_cast<double>(log_bytes)},
                   {"resident_after_mib", resident_after}};
  return killed_broker{done, start};
}

}  // namespace

result<std::vector<row>> many_partitions(const bench_options& options) {
  BRAID_TRY(of_few, kill_and_start(options, few));
  BRAID_TRY(of_many, kill_and_start(options, many));
  return std::vector<row>{memory_row(of_many.load), of_few.start, of_many.start};
}

}  // namespace braidmq::bench
