// Group commit on the real disk below the current folder: durable appends of 1 KiB by how many wait at once. One append
// at a time is the price of a sync; the ratio between the rows is what the group brings.
#include <atomic>
#include <filesystem>

#include <benchmark/benchmark.h>

#include "io/thread_executor.hpp"
#include "wal/log.hpp"

namespace braidmq::wal {
namespace {

void durable_appends(benchmark::State& state) {
  const auto waiting = static_cast<std::uint64_t>(state.range(0));
  const auto folder = std::filesystem::current_path() / "wal_bench.tmp";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  {
    io::thread_executor owner("owner");
    io::thread_executor disk("disk");
    options options;
    options.folder = folder.string();
    auto opened = log::open(io::posix_file_system(), disk, owner, io::system_random(), io::system_clock(), options);
    if (!opened) return state.SkipWithError(opened.error().to_string().c_str());
    const std::unique_ptr<log> target = std::move(*opened);
    const bytes payload = bytes::copy_of(std::string(1024, 'x'));
    std::uint64_t index = 0;
    std::atomic<std::uint64_t> durable{0};
    for (auto _ : state) {
      durable = 0;
      owner.post([&] {
        for (std::uint64_t i = 0; i < waiting; ++i) {
          append_item item;
          item.group = raft::group_id(1);
          raft::entry entry;
          entry.term = raft::term(1);
          entry.index = raft::index(++index);
          entry.payload = payload;
          item.entries.push_back(std::move(entry));
          target->append(std::move(item), [&](status written) {
            if (written && ++durable == waiting) durable.notify_one();
          });
        }
      });
      for (std::uint64_t seen = durable; seen != waiting; seen = durable) durable.wait(seen);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * waiting));
    owner.stop();
    disk.stop();
  }
  std::filesystem::remove_all(folder);
}
BENCHMARK(durable_appends)->Arg(1)->Arg(8)->Arg(64)->UseRealTime();

}  // namespace
}  // namespace braidmq::wal
