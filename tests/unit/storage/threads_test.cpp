// Real files and real threads: what the sanitizers are to see.
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <future>

#include <unistd.h>

#include "io/thread_executor.hpp"
#include "log_fixture.hpp"

namespace braidmq::storage {
namespace {

TEST(Threads, AppendsReadsAndRollsOverRealFiles) {
  std::string folder = (std::filesystem::temp_directory_path() / "braid-storage-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  constexpr std::int64_t batch_count = 2000;
  std::atomic<int> wrong = 0;
  std::atomic<int> answered = 0;
  int asked = 0;
  {
    io::thread_executor disk("disk");
    io::thread_executor owner("owner");
    std::unique_ptr<partition_log> log;
    std::promise<void> done;
    owner.post([&] {
      auto opened = partition_log::open(io::posix_file_system(), disk, owner, folder + "/t-0",
                                        {.segments = {.bytes = 20'000}, .cache_bytes = 5000}, model::offset(0),
                                        {nullptr, [&](error) { ++wrong; }});
      if (!opened) {
        ++wrong;
        return done.set_value();
      }
      log = std::move(*opened);
      sim::rng chance(1);
      for (std::int64_t i = 0; i < batch_count; ++i) {
        log->append(make_batch(i, 1, 100));
        if (i % 5 != 0) continue;
        const auto from = static_cast<std::int64_t>(chance.below(static_cast<std::uint64_t>(i) + 1));
        ++asked;
        log->read({model::offset(from), model::offset(i + 1), 2000, true}, [&, from](auto got) {
          ++answered;
          if (!got || bases(*got).front() != from) ++wrong;
        });
      }
      log->drain([&](status drained) {
        if (!drained || log->pending_bytes() != 0) ++wrong;
        log.reset();
        done.set_value();
      });
    });
    done.get_future().wait();
    disk.stop();
    owner.stop();
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(answered, 0);
  EXPECT_LE(answered, asked) << "reads that the end of the log overtook are dropped";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace braidmq::storage
