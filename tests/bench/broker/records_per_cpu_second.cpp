#include <fmt/format.h>

#include "bench/broker/load.hpp"
#include "bench/broker/produce_frame.hpp"
#include "bench/broker/rows.hpp"
#include "bench/broker/samples.hpp"
#include "bench/broker/topics.hpp"

namespace braidmq::bench {
namespace {

constexpr std::int32_t partitions = 16;
constexpr std::size_t connections = 16;
constexpr std::size_t in_flight = 5;  // what an idempotent producer of Kafka's allows itself
constexpr std::size_t value_bytes = 100;
constexpr auto warm_up = std::chrono::seconds(2);
constexpr auto measured_for = std::chrono::seconds(10);

struct outcome {
  double records = 0;
  double cpu = 0;
  double wall = 0;
};

result<outcome> measure(const target& broker, const std::string& topic, std::size_t batch) {
  std::vector<bytes> frames;
  for (std::int32_t p = 0; p < partitions; ++p) {
    BRAID_TRY(frame, produce_frame({{topic, p, batch, value_bytes}}));
    frames.push_back(std::move(frame));
  }
  BRAID_TRY(client, load::open(broker.kafka, connections, in_flight));
  const auto next = [&](std::uint64_t request) { return frames[request % frames.size()].view(); };
  const auto run_for = [&](io::duration time) -> result<std::uint64_t> {
    const io::time_point end = io::system_clock().now() + time;
    std::uint64_t acks = 0;
    BRAID_TRY_VOID(client->run(next, [&](const ack& one) {
      ++acks;
      return one.acked < end ? go::on : go::drain;
    }));
    return acks;
  };
  BRAID_TRY(warm, run_for(warm_up));
  BRAID_TRY(cpu_before, cpu_seconds(broker.pid));
  const io::time_point before = io::system_clock().now();
  BRAID_TRY(acks, run_for(measured_for));
  const io::time_point after = io::system_clock().now();
  BRAID_TRY(cpu_after, cpu_seconds(broker.pid));
  BRAID_TRY(written, records_in(broker.kafka, topic, partitions));
  if (written != static_cast<std::int64_t>((warm + acks) * batch)) {
    return fail(std::make_error_code(std::errc::bad_message), fmt::format("{} records in {}", written, topic));
  }
  return outcome{static_cast<double>(acks * batch), cpu_after - cpu_before, seconds(after - before)};
}

row row_of(const outcome& got, std::size_t batch, double least) {
  const double rate = got.records / got.cpu;
  row made;
  made.what = fmt::format("Records of 100 B per CPU-second of the broker, in batches of {}", batch);
  made.measured = fmt::format("{:.0f}", rate);
  made.wanted = fmt::format(">= {:.0f}", least);
  made.held = rate >= least;
  made.note =
      fmt::format("{:.0f} records in {:.1f} s, {:.1f} s of processor time; {} connections with {} requests each",
                  got.records, got.wall, got.cpu, connections, in_flight);
  made.figures = {{"records", got.records}, {"cpu_s", got.cpu}, {"wall_s", got.wall}, {"records_per_cpu_s", rate}};
  return made;
}

}  // namespace

result<std::vector<row>> records_per_cpu_second(const bench_options& options) {
  BRAID_TRY(settings, fresh_broker(options, "cpu"));
  BRAID_TRY(broker, broker_process::start(settings));
  std::vector<row> rows;
  for (const auto& [batch, least] : {std::pair<std::size_t, double>{100, 200'000}, {1, 40'000}}) {
    const std::string topic = fmt::format("batches-of-{}", batch);
    BRAID_TRY_VOID(create_topic(broker->where().kafka, topic, partitions));
    BRAID_TRY(got, measure(broker->where(), topic, batch));
    rows.push_back(row_of(got, batch, least));
  }
  BRAID_TRY_VOID(broker->stop());
  return rows;
}

}  // namespace braidmq::bench
