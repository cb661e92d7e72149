#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <new>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/broker/load.hpp"
#include "bench/broker/produce_frame.hpp"
#include "bench/broker/rows.hpp"
#include "bench/broker/samples.hpp"
#include "bench/broker/syscall_log.hpp"
#include "bench/broker/topics.hpp"

namespace braidmq::bench {
namespace {

constexpr std::size_t writes = 3000;
constexpr std::uint64_t capacity = 1U << 18U;
constexpr std::size_t log_bytes = sizeof(syscall_log_head) + capacity * sizeof(syscall_event);

// Each begins where the one before it ends.
constexpr std::array<const char*, 6> hops = {
    "client's send to the broker's read of the request",
    "read to write: decode, check, entry, Raft, to the log's thread",
    "write of the group, past the page cache",
    "fdatasync",
    "durable to answer: back to the shard, commit, apply, encode",
    "broker's send to the client's read of the answer",
};

class mapped_log {
 public:
  static result<std::unique_ptr<mapped_log>> make(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    std::unique_ptr<mapped_log> made(new mapped_log);
    if (file < 0) return fail(std::error_code(errno, std::generic_category()), path);
    if (::ftruncate(file, log_bytes) == 0) {
      made->at_ = ::mmap(nullptr, log_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    const int code = errno;
    ::close(file);
    if (made->at_ == MAP_FAILED) return fail(std::error_code(code, std::generic_category()), path);
    made->head_ = new (made->at_) syscall_log_head;
    made->head_->capacity = capacity;
    return made;
  }
  ~mapped_log() {
    if (at_ != MAP_FAILED) ::munmap(at_, log_bytes);
  }
  mapped_log(const mapped_log&) = delete;
  mapped_log& operator=(const mapped_log&) = delete;

  // What has been noted so far, by rising end.
  std::vector<syscall_event> events() const {
    const auto count = std::min(head_->count.load(), capacity);
    const auto* first = reinterpret_cast<const syscall_event*>(head_ + 1);
    std::vector<syscall_event> all(first, first + count);
    std::ranges::sort(all, {}, &syscall_event::end);
    return all;
  }

 private:
  mapped_log() = default;

  void* at_ = MAP_FAILED;
  syscall_log_head* head_ = nullptr;
};

std::int64_t nanoseconds(io::time_point at) {
  return at.time_since_epoch().count();
}

// The times at which the hops of one write meet; nothing when a call is missing.
std::optional<std::array<std::int64_t, hops.size() + 1>> meetings(const std::vector<syscall_event>& events,
                                                                  const ack& one) {
  const std::int64_t from = nanoseconds(one.sent);
  const std::int64_t to = nanoseconds(one.acked);
  const syscall_event* receive = nullptr;
  const syscall_event* sync = nullptr;
  const syscall_event* send = nullptr;
  for (auto at = std::ranges::lower_bound(events, from, {}, &syscall_event::end); at != events.end(); ++at) {
    if (at->begin > to) break;
    if (at->kind == syscall_kind::receive && at->outcome > 0 && receive == nullptr) receive = &*at;
    if (at->kind == syscall_kind::sync && receive != nullptr && send == nullptr) sync = &*at;
    if (at->kind == syscall_kind::send && at->outcome > 0 && sync != nullptr && send == nullptr) send = &*at;
  }
  if (send == nullptr) return std::nullopt;
  const syscall_event* write = nullptr;
  for (const syscall_event* event = sync; event != events.data(); --event) {
    if (event->end < receive->end) break;
    if (event->kind == syscall_kind::write && event->thread == sync->thread) {
      write = event;
      break;
    }
  }
  if (write == nullptr) return std::nullopt;
  return std::array{from, receive->end, write->begin, sync->begin, sync->end, send->begin, to};
}

}  // namespace

result<std::vector<row>> atomic_write_hops(const bench_options& options) {
  BRAID_TRY(settings, fresh_broker(options, "hops"));
  const std::string log_path = settings.folder + "/syscalls";
  BRAID_TRY(log, mapped_log::make(log_path));
  settings.environment = {"LD_PRELOAD=" + options.syscall_log, std::string(syscall_log_variable) + "=" + log_path};
  BRAID_TRY(broker, broker_process::start(settings));
  const io::endpoint& at = broker->where().kafka;
  BRAID_TRY_VOID(create_topic(at, "payments", 1));
  BRAID_TRY_VOID(create_topic(at, "ledger", 1));
  BRAID_TRY(frame, produce_frame({{"payments", 0, 1, 1024}, {"ledger", 0, 1, 1024}}, true));
  BRAID_TRY(client, load::open(at, 1, 1));
  std::vector<ack> acks;
  BRAID_TRY_VOID(client->run([&](std::uint64_t) { return frame.view(); },
                             [&](const ack& one) {
                               acks.push_back(one);
                               return acks.size() == writes ? go::drain : go::on;
                             }));
  BRAID_TRY_VOID(broker->stop());

  const auto events = log->events();
  std::array<samples, hops.size()> times;
  for (const ack& one : acks) {
    const auto met = meetings(events, one);
    if (!met) continue;
    for (std::size_t i = 0; i < hops.size(); ++i) times[i].add(io::duration((*met)[i + 1] - (*met)[i]));
  }
  if (times[0].size() < writes * 9 / 10) {
    return fail(std::make_error_code(std::errc::bad_message),
                fmt::format("of {} writes only {} could be followed", writes, times[0].size()));
  }
  std::vector<row> rows;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    row& made = rows.emplace_back();
    made.what = fmt::format("  hop {}: {}", i + 1, hops[i]);
    made.measured = fmt::format("{:.3f} ms", milliseconds(times[i].at(0.5)));
    made.figures = {{"p50_ms", milliseconds(times[i].at(0.5))}, {"p99_ms", milliseconds(times[i].at(0.99))}};
  }
  rows.back().note =
      fmt::format("p50 of {} writes that were followed through the broker's system calls", times[0].size());
  return rows;
}

}  // namespace braidmq::bench
