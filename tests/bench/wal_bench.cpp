// Group commit on the real disk below the current folder: durable appends of 1 KiB by how many wait at once, in files
// that were made ahead and in files that grow. `raw` is the floor: one 4 KiB block of a file that was written before,
// past the page cache, and fdatasync. The ratios between the rows of one run are what counts.
#include <atomic>
#include <filesystem>

#include <benchmark/benchmark.h>

#include "io/thread_executor.hpp"
#include "wal/log.hpp"

namespace braidmq::wal {
namespace {

void raw(benchmark::State& state) {
  const auto path = std::filesystem::current_path() / "wal_bench.raw.tmp";
  constexpr std::uint64_t file_bytes = 64U << 20U;
  {
    auto made = io::posix_file_system().open_direct(path.string(), io::open_mode::create);
    if (!made) return state.SkipWithError(made.error().to_string().c_str());
    io::file& file = **made;
    const std::vector<std::byte> zeros(1U << 20U);
    for (std::uint64_t at = 0; at < file_bytes; at += zeros.size()) {
      if (!file.write_at(at, byte_view(zeros))) return state.SkipWithError("write");
    }
    if (!file.sync_data()) return state.SkipWithError("sync");
    const std::vector<std::byte> block(4096, std::byte{7});
    std::uint64_t at = 0;
    for (auto _ : state) {
      if (!file.write_at(at, byte_view(block)) || !file.sync_data()) return state.SkipWithError("write");
      at = (at + block.size()) % file_bytes;
    }
    state.SetItemsProcessed(state.iterations());
  }
  std::filesystem::remove(path);
}
BENCHMARK(raw)->UseRealTime();

// Nothing here is idle for long enough.
class no_timers final : public io::timer_service {
 public:
  io::timer_id schedule(io::duration, unique_function<void()>) override { return io::timer_id{1}; }
  bool cancel(io::timer_id) override { return true; }
};

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
    options.preallocate = state.range(1) != 0;
    io::thread_executor background("background");
    no_timers timers;
    auto opened = log::open(
        {io::posix_file_system(), disk, background, owner, timers, io::system_random(), io::system_clock()}, options);
    if (!opened) return state.SkipWithError(opened.error().to_string().c_str());
    const std::unique_ptr<log> target = std::move(*opened);
    const bytes payload = bytes::copy_of(std::string(1024, 'x'));
    std::uint64_t index = 0;
    std::atomic<std::uint64_t> durable{0};
    for (auto _ : state) {
      durable = 0;
      owner.post([&] {
        // As after a checkpoint: in the long run files are used again and none is made.
        if (index > 20'000) target->release(raft::group_id(1), raft::index(index - 10'000));
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
    background.stop();
  }
  std::filesystem::remove_all(folder);
}
BENCHMARK(durable_appends)->ArgNames({"waiting", "ahead"})->ArgsProduct({{1, 8, 64}, {0, 1}})->UseRealTime();

}  // namespace
}  // namespace braidmq::wal
