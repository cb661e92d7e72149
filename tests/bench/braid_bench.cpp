// What the braid itself costs for a produce request, without disks and sockets: entry codec and apply, by how many
// requests one entry carries.
#include <benchmark/benchmark.h>

#include "base/check.hpp"
#include "braid/machine.hpp"
#include "support/batches.hpp"
#include "support/memory_partition_log.hpp"

namespace braidmq::braid {
namespace {

class memory_logs final : public log_factory {
 public:
  std::unique_ptr<storage::partition_log> make(const model::topic_partition_id&) override {
    return std::make_unique<sim::memory_partition_log>();
  }
  void configure(storage::partition_log&, const config_values&) override {}
};

constexpr int partitions = 16;
constexpr int applies_per_machine = 256;  // then a new one, or memory would grow with the run

void apply(benchmark::State& state) {
  const auto requests = static_cast<int>(state.range(0));
  const bytes batch = sim::make_batch({std::string(1024, 'x')});
  entry_command create;
  for (int p = 0; p < partitions; ++p) create.creations.push_back({sim::partition_of(1, p), 0, 1});
  entry_command produce;
  for (int i = 0; i < requests; ++i) produce.units.push_back({{{sim::partition_of(1, i % partitions), batch}}});

  memory_logs logs;
  std::unique_ptr<machine> target;
  int left = 0;
  for (auto _ : state) {
    if (left-- == 0) {
      state.PauseTiming();
      target = std::make_unique<machine>(logs);
      raft::entry first;
      first.index = raft::index(1);
      first.payload = encode(create);
      BRAID_CHECK(target->apply(first).has_value());
      left = applies_per_machine;
      state.ResumeTiming();
    }
    raft::entry entry;
    entry.index = target->applied_index() + 1;
    entry.term = raft::term(1);
    entry.payload = encode(produce);
    benchmark::DoNotOptimize(target->apply(entry));
    target->publish();
  }
  state.SetItemsProcessed(state.iterations() * requests);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * requests * batch.size()));
}
BENCHMARK(apply)->Arg(1)->Arg(16)->Arg(256);

}  // namespace
}  // namespace braidmq::braid
