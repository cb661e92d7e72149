#include <fmt/format.h>

#include "bench/broker/cluster_process.hpp"
#include "bench/broker/load.hpp"
#include "bench/broker/produce_frame.hpp"
#include "bench/broker/replication_floor.hpp"
#include "bench/broker/rows.hpp"
#include "bench/broker/samples.hpp"
#include "bench/broker/topics.hpp"

namespace braidmq::bench {
namespace {

// Short rounds in turn, so that what else the machine does meets both alike.
constexpr int rounds = 40;
constexpr std::size_t round_size = 100;
constexpr double most_floors = 2.5;

status write_round(load& client, const bytes& frame, samples* into) {
  std::size_t written = 0;
  return client.run([&](std::uint64_t) { return frame.view(); },
                    [&](const ack& one) {
                      if (into != nullptr) into->add(one.acked - one.sent);
                      return ++written == round_size ? go::drain : go::on;
                    });
}

}  // namespace

result<std::vector<row>> replicated_write(const bench_options& options) {
  BRAID_TRY(settings, fresh_broker(options, "replicated"));
  BRAID_TRY(cluster, cluster_process::start(settings));
  const io::endpoint any = cluster->at(0).where().kafka;
  BRAID_TRY_VOID(create_topic(any, "payments", 1));
  BRAID_TRY_VOID(create_topic(any, "ledger", 1));
  BRAID_TRY(leader, cluster->leader_of("payments"));
  const io::endpoint& at = cluster->at(leader).where().kafka;
  BRAID_TRY(frame, produce_frame({{"payments", 0, 1, 1024}, {"ledger", 0, 1, 1024}}, true));
  BRAID_TRY(floor, replication_floor::start(settings.folder));
  BRAID_TRY(client, load::open(at, 1, 1));
  BRAID_TRY_VOID(write_round(*client, frame, nullptr));
  samples writes;
  samples floors;
  for (int i = 0; i < rounds; ++i) {
    for (std::size_t n = 0; n < round_size; ++n) {
      BRAID_TRY(took, floor->write());
      floors.add(took);
    }
    BRAID_TRY_VOID(write_round(*client, frame, &writes));
  }
  BRAID_TRY(records, records_in(at, "ledger", 1));
  if (records != static_cast<std::int64_t>(writes.size() + round_size)) {
    return fail(std::make_error_code(std::errc::bad_message), fmt::format("{} records in the ledger", records));
  }
  BRAID_TRY_VOID(cluster->stop());

  const double floor_ms = milliseconds(floors.at(0.5));
  const double write_ms = milliseconds(writes.at(0.5));
  row made;
  made.what = "The same, three brokers, acknowledged by a majority's disks, p50";
  made.measured = fmt::format("{:.3f} ms", write_ms);
  made.wanted = fmt::format("<= {} x {:.3f} ms = {:.3f} ms", most_floors, floor_ms, most_floors * floor_ms);
  made.held = write_ms <= most_floors * floor_ms;
  made.note =
      fmt::format("{} writes; {:.2f} x three bare processes that do the same; p99 {:.3f} ms, of those {:.3f} ms",
                  writes.size(), write_ms / floor_ms, milliseconds(writes.at(0.99)), milliseconds(floors.at(0.99)));
  made.figures = {{"write_p50_ms", write_ms},
                  {"write_p99_ms", milliseconds(writes.at(0.99))},
                  {"floor_p50_ms", floor_ms},
                  {"floor_p99_ms", milliseconds(floors.at(0.99))}};
  return std::vector<row>{made};
}

}  // namespace braidmq::bench
