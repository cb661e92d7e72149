#include "wal/log.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/check.hpp"
#include "wal/format.hpp"
#include "wal/position_index.hpp"
#include "wal/read.hpp"
#include "wal/recovery.hpp"
#include "wal/writer.hpp"

namespace braidmq::wal {
namespace {

using durable_callback = unique_function<void(status)>;

// What outlives the log object while work is under way. `disk_side` belongs to the disk executor during a write; all
// else is touched on the owner's executor only.
struct core {
  core(io::executor& disk, io::executor& owner, options options, wal::writer writer)
      : disk(disk), owner(owner), opts(std::move(options)), disk_side(std::move(writer)) {}

  struct waiting {
    append_item item;
    std::size_t size_bytes;
    durable_callback durable;
  };

  io::executor& disk;
  io::executor& owner;
  const options opts;
  wal::writer disk_side;

  std::deque<waiting> queue;
  std::vector<durable_callback> in_flight;  // of the write under way
  bool writing = false;
  bool closed = false;
  std::optional<error> failure;

  position_index positions;
  std::map<std::uint64_t, std::shared_ptr<io::file>> files;
  std::map<raft::group_id, raft::index> appended;  // last index, durable or not
  stats counters;
};

using core_ptr = std::shared_ptr<core>;
using item_list = std::shared_ptr<const std::vector<append_item>>;

void start_write(const core_ptr& c);

// The callbacks may append, read, or destroy the log.
void finish_write(const core_ptr& c, const item_list& items, std::size_t items_bytes, const result<written>& outcome) {
  c->writing = false;
  if (c->closed) return;
  auto callbacks = std::exchange(c->in_flight, {});
  c->counters.queued_bytes -= items_bytes;
  status answer;
  if (outcome) {
    const group_place& place = outcome->place;
    if (outcome->new_file) {
      c->files[place.file] = outcome->new_file;
      ++c->counters.file_count;
      ++c->counters.groups_written;
    }
    for (const append_item& item : *items) {
      if (item.entries.empty()) continue;
      c->positions.add(item.group, item.entries.front().index, item.entries.back().index, place);
    }
    ++c->counters.groups_written;
    c->counters.bytes_written += outcome->bytes;
    c->counters.file_bytes += outcome->bytes;
    c->counters.syncs += outcome->syncs;
    c->counters.last_sync_nanos = outcome->sync_nanos;
    start_write(c);  // before the callbacks, so that the disk does not wait for them
  } else {
    c->failure = outcome.error();
    answer = fail(outcome.error().code, outcome.error().message);
    for (core::waiting& late : std::exchange(c->queue, {})) callbacks.push_back(std::move(late.durable));
    c->counters.queued_bytes = 0;
  }
  for (durable_callback& durable : callbacks) {
    if (c->closed) return;
    durable(answer);
  }
}

void start_write(const core_ptr& c) {
  if (c->writing || c->queue.empty()) return;
  auto items = std::make_shared<std::vector<append_item>>();
  std::size_t bytes = 0;
  while (!c->queue.empty() && (items->empty() || bytes + c->queue.front().size_bytes <= c->opts.max_group_bytes)) {
    core::waiting next = std::move(c->queue.front());
    c->queue.pop_front();
    bytes += next.size_bytes;
    items->push_back(std::move(next.item));
    c->in_flight.push_back(std::move(next.durable));
  }
  c->writing = true;
  c->disk.post([c, items, bytes] {
    auto outcome = c->disk_side.write(*items);
    c->owner.post([c, items, bytes, outcome = std::move(outcome)] { finish_write(c, items, bytes, outcome); });
  });
}

class log_impl final : public log {
 public:
  log_impl(core_ptr core, std::vector<recovered_group> recovered)
      : core_(std::move(core)), recovered_(std::move(recovered)) {}
  ~log_impl() override {
    core_->closed = true;
    auto dropped = std::exchange(core_->queue, {});
    auto unanswered = std::exchange(core_->in_flight, {});
  }

  const std::vector<recovered_group>& recovered() const override { return recovered_; }

  void append(append_item item, durable_callback durable) override {
    if (core_->failure) {
      core_->owner.post([c = core_, durable = std::move(durable)]() mutable {
        if (!c->closed) durable(fail(errc::failed, c->failure->to_string()));
      });
      return;
    }
    note_entries(item);
    const std::size_t size = format::item_size(item);
    BRAID_CHECK(size <= format::max_payload_bytes, "append of {} bytes", size);
    core_->counters.queued_bytes += size;
    core_->queue.push_back({std::move(item), size, std::move(durable)});
    start_write(core_);
  }

  void read(raft::group_id group, raft::index from, std::size_t max_bytes,
            unique_function<void(result<std::vector<raft::entry>>)> done) override {
    read_plan plan{group, from, max_bytes, {}};
    for (const position_index::run& run : core_->positions.find(group, from, max_bytes)) {
      plan.steps.push_back({run, core_->files.at(run.place.file), core_->opts.folder});
    }
    if (plan.steps.empty()) {
      answer(core_, std::move(done), fail(errc::not_retained, fmt::format("entry {} of Raft group {}", from, group)));
      return;
    }
    core_->disk.post([c = core_, plan = std::move(plan), done = std::move(done)]() mutable {
      answer(c, std::move(done), read_entries(plan));
    });
  }

  stats statistics() const override { return core_->counters; }

 private:
  static void answer(const core_ptr& c, unique_function<void(result<std::vector<raft::entry>>)> done,
                     result<std::vector<raft::entry>> outcome) {
    c->owner.post([c, done = std::move(done), outcome = std::move(outcome)]() mutable {
      if (!c->closed) done(std::move(outcome));
    });
  }

  // A gap would be found by the next recovery only, when it is too late to say whose fault it is.
  void note_entries(const append_item& item) {
    if (item.entries.empty()) return;
    raft::index& last = core_->appended[item.group];
    raft::index expected = item.entries.front().index;
    BRAID_CHECK(expected > raft::index(0) && expected <= last + 1, "group {}: entry {} after {}", item.group, expected,
                last);
    for (const raft::entry& entry : item.entries) {
      BRAID_CHECK(entry.index == expected, "group {}: entry {} where {} belongs", item.group, entry.index, expected);
      ++expected;
    }
    last = item.entries.back().index;
  }

  core_ptr core_;
  std::vector<recovered_group> recovered_;
};

std::vector<recovered_group> summarize(const recovery& found) {
  std::vector<recovered_group> groups;
  for (const auto& [group, state] : found.end.states) {
    groups.push_back({group, state.state, found.positions.first(group), state.last_index, state.last_term});
  }
  return groups;
}

}  // namespace

result<std::unique_ptr<log>> log::open(io::file_system& fs, io::executor& disk, io::executor& owner,
                                       io::random_source& random, const io::clock& clock, options options) {
  BRAID_CHECK(options.file_bytes > 0 && options.max_group_bytes > 0 &&
              options.max_group_bytes <= format::max_payload_bytes);
  BRAID_TRY(found, recover(fs, options.folder));
  auto recovered = summarize(found);
  wal::writer writer(fs, random, clock, options, found.end);
  if (!found.end.file) {
    BRAID_TRY_VOID(writer.begin_file());
    found.files[writer.end().file_sequence] = writer.end().file;
    found.file_bytes = writer.end().position;
  }
  auto c = std::make_shared<core>(disk, owner, std::move(options), std::move(writer));
  c->positions = std::move(found.positions);
  c->files = std::move(found.files);
  for (const auto& group : recovered) c->appended[group.group] = group.last_index;
  c->counters.file_count = c->files.size();
  c->counters.file_bytes = found.file_bytes;
  c->counters.cut_bytes = found.cut_bytes;
  return std::unique_ptr<log>(std::make_unique<log_impl>(std::move(c), std::move(recovered)));
}

}  // namespace braidmq::wal
