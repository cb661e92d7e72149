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
#include "wal/spares.hpp"
#include "wal/writer.hpp"

namespace braidmq::wal {
namespace {

using durable_callback = unique_function<void(status)>;

constexpr std::size_t most_spares = 2;

// What outlives the log object while work is under way. `disk_side` belongs to the disk executor during a write; all
// else is touched on the owner's executor only.
struct core {
  core(const environment& world, options options, wal::writer writer)
      : world(world), opts(std::move(options)), disk_side(std::move(writer)) {}

  struct waiting {
    append_item item;
    std::size_t size_bytes;
    durable_callback durable;
  };

  const environment world;
  const options opts;
  wal::writer disk_side;

  std::deque<waiting> queue;
  std::vector<durable_callback> in_flight;  // of the write under way
  bool writing = false;
  bool closed = false;
  std::optional<error> failure;

  position_index positions;
  std::map<std::uint64_t, log_file> files;
  std::map<raft::group_id, raft::index> appended;  // last index, durable or not
  stats counters;

  bool marked = true;  // nothing has been written since the last mark
  io::time_point last_write;
  io::timer_id mark_timer{0};

  std::deque<spare_file> spares;
  std::uint64_t next_spare = 1;  // number
  bool preparing = false;
  std::uint64_t prepare_from_file = 0;  // after a failure: not before the log has reached this file
  std::shared_ptr<int> wants_spares = std::make_shared<int>(0);
  bool retiring = false;

  std::optional<spare_file> take_spare() {
    if (spares.empty()) return std::nullopt;
    auto one = std::move(spares.front());
    spares.pop_front();
    return one;
  }
};

using core_ptr = std::shared_ptr<core>;
using item_list = std::shared_ptr<const std::vector<append_item>>;

void start_write(const core_ptr& c);
void watch_idleness(const core_ptr& c);
void keep_spares(const core_ptr& c);

void note_written(core& c, const written& done) {
  const group_place& place = done.place;
  if (done.new_file) c.files[place.file] = {done.new_file, 0};
  c.files[place.file].used_bytes = place.position + place.size_bytes;
  if (done.unused) c.spares.push_front(*done.unused);
  if (done.recycled) ++c.counters.recycled_files;
  c.counters.groups_written += done.groups;
  c.counters.bytes_written += done.bytes;
  c.counters.syncs += done.syncs;
  c.counters.last_sync_nanos = done.sync_nanos;
  c.last_write = c.world.clock.now();
}

// The callbacks may append, read, or destroy the log.
void finish_write(const core_ptr& c, const item_list& items, std::size_t items_bytes, const result<written>& outcome) {
  c->writing = false;
  if (c->closed) return;
  auto callbacks = std::exchange(c->in_flight, {});
  c->counters.queued_bytes -= items_bytes;
  status answer;
  if (outcome) {
    note_written(*c, *outcome);
    for (const append_item& item : *items) {
      if (item.entries.empty()) continue;
      c->positions.add(item.group, item.entries.front().index, item.entries.back().index, outcome->place);
    }
    c->marked = items->empty();
    if (items->empty()) ++c->counters.marks;
    start_write(c);  // before the callbacks, so that the disk does not wait for them
    watch_idleness(c);
    keep_spares(c);
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

// No items: a mark.
void write_items(const core_ptr& c, std::shared_ptr<std::vector<append_item>> items, std::size_t bytes) {
  c->writing = true;
  c->world.disk.post([c, items = item_list(std::move(items)), bytes, spare = c->take_spare()]() mutable {
    auto outcome = items->empty() ? c->disk_side.mark(std::move(spare)) : c->disk_side.write(*items, std::move(spare));
    c->world.owner.post([c, items, bytes, outcome = std::move(outcome)] { finish_write(c, items, bytes, outcome); });
  });
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
  write_items(c, std::move(items), bytes);
}

// A mark follows when nothing else does: without it, damage of the last group write would look like a torn one.
void watch_idleness(const core_ptr& c) {
  if (c->marked || c->mark_timer != io::timer_id{0}) return;
  const io::duration idle = c->world.clock.now() - c->last_write;
  c->mark_timer = c->world.timers.schedule(c->opts.mark_delay - idle, [weak = std::weak_ptr(c)] {
    const auto c = weak.lock();
    if (c == nullptr || c->closed) return;
    c->mark_timer = io::timer_id{0};
    if (c->writing || c->failure || c->marked) return;  // the end of that write watches on
    if (c->world.clock.now() - c->last_write < c->opts.mark_delay) return watch_idleness(c);
    write_items(c, std::make_shared<std::vector<append_item>>(), 0);
  });
}

// One file is ready before the current one is full.
void keep_spares(const core_ptr& c) {
  if (!c->opts.preallocate || c->preparing || c->retiring || !c->spares.empty() || c->files.empty()) return;
  const auto& [sequence, current] = *c->files.rbegin();
  if (current.used_bytes < c->opts.file_bytes / 2 || sequence < c->prepare_from_file) return;
  c->preparing = true;
  const std::string name = format::spare_name(c->next_spare++);
  prepare_spare(c->world.fs, c->world.background, c->opts.folder + "/" + name, c->opts.file_bytes, c->wants_spares,
                [c, name, sequence = sequence](result<std::shared_ptr<io::file>> made) {
                  c->world.owner.post([c, name, sequence, made = std::move(made)] {
                    c->preparing = false;
                    if (made) {
                      c->spares.push_back({name, *made});
                    } else {
                      ++c->counters.spare_failures;
                      c->prepare_from_file = sequence + 1;
                    }
                  });
                });
}

// Files from which nothing is needed leave the log.
void retire(const core_ptr& c) {
  if (c->retiring || c->failure || c->files.empty()) return;
  const std::uint64_t current = c->files.rbegin()->first;
  const std::uint64_t needed = std::min(current, c->positions.oldest_file().value_or(current));
  if (c->files.begin()->first >= needed) return;
  std::vector<retired_file> gone;
  while (c->files.begin()->first < needed) {
    auto node = c->files.extract(c->files.begin());
    auto& file = node.mapped().file;
    // A read that is under way holds it, too.
    gone.push_back({node.key(), file.use_count() == 1 ? std::move(file) : nullptr});
  }
  const std::size_t have = c->spares.size() + (c->preparing ? 1U : 0U);
  const std::size_t wanted = c->opts.preallocate && have < most_spares ? most_spares - have : 0;
  const std::uint64_t first = c->next_spare;
  c->next_spare += wanted;
  c->retiring = true;
  c->world.disk.post([c, gone = std::move(gone), first, wanted] {
    auto spares = retire_files(c->world.fs, c->opts.folder, gone, c->opts.file_bytes, first, wanted);
    c->world.owner.post([c, spares = std::move(spares)] {
      c->retiring = false;
      if (c->closed) return;
      if (!spares) {
        // The folder is in a state that only a start can tell; what is in the log is durable all the same.
        c->failure = spares.error();
        return;
      }
      c->spares.insert(c->spares.end(), spares->begin(), spares->end());
      retire(c);
    });
  });
}

class log_impl final : public log {
 public:
  log_impl(core_ptr core, std::vector<recovered_group> recovered)
      : core_(std::move(core)), recovered_(std::move(recovered)) {}
  ~log_impl() override {
    core_->closed = true;
    core_->wants_spares.reset();
    if (core_->mark_timer != io::timer_id{0}) core_->world.timers.cancel(core_->mark_timer);
    auto dropped = std::exchange(core_->queue, {});
    auto unanswered = std::exchange(core_->in_flight, {});
  }

  const std::vector<recovered_group>& recovered() const override { return recovered_; }

  void append(append_item item, durable_callback durable) override {
    if (core_->failure) {
      core_->world.owner.post([c = core_, durable = std::move(durable)]() mutable {
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
      plan.steps.push_back({run, core_->files.at(run.place.file).file, core_->opts.folder});
    }
    if (plan.steps.empty()) {
      answer(core_, std::move(done), fail(errc::not_retained, fmt::format("entry {} of Raft group {}", from, group)));
      return;
    }
    core_->world.disk.post([c = core_, plan = std::move(plan), done = std::move(done)]() mutable {
      answer(c, std::move(done), read_entries(plan));
    });
  }

  void release(raft::group_id group, raft::index from) override {
    core_->positions.release(group, from);
    retire(core_);
  }

  stats statistics() const override {
    stats now = core_->counters;
    now.file_count = core_->files.size();
    for (const auto& [sequence, file] : core_->files) now.file_bytes += file.used_bytes;
    now.spare_files = core_->spares.size();
    return now;
  }

 private:
  static void answer(const core_ptr& c, unique_function<void(result<std::vector<raft::entry>>)> done,
                     result<std::vector<raft::entry>> outcome) {
    c->world.owner.post([c, done = std::move(done), outcome = std::move(outcome)]() mutable {
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

// The first file of an empty folder.
status begin_log(core& c) {
  auto spare = c.take_spare();
  if (!spare && c.opts.preallocate) {
    const std::string name = format::spare_name(c.next_spare++);
    BRAID_TRY(made, make_spare(c.world.fs, c.opts.folder + "/" + name, c.opts.file_bytes));
    spare = spare_file{name, std::move(made)};
  }
  BRAID_TRY_VOID(c.disk_side.begin_file(spare));
  const log_end& end = c.disk_side.end();
  c.files[end.file_sequence] = {end.file, end.position};
  return {};
}

std::vector<recovered_group> summarize(const recovery& found) {
  std::vector<recovered_group> groups;
  for (const auto& [group, state] : found.end.states) {
    const auto terms = found.terms.find(group);
    groups.push_back({group, state.state, found.positions.first(group), state.last_index, state.last_term,
                      terms == found.terms.end() ? std::vector<raft::term_run>() : terms->second});
  }
  return groups;
}

}  // namespace

result<std::unique_ptr<log>> log::open(const environment& world, options options) {
  BRAID_CHECK(options.file_bytes > 0 && options.max_group_bytes > 0 &&
              options.max_group_bytes <= format::max_payload_bytes);
  BRAID_TRY(found, recover(world.fs, options.folder));
  auto recovered = summarize(found);
  const std::size_t most = options.preallocate ? most_spares : 0;
  BRAID_TRY(spares, adopt_spares(world.fs, options.folder, found.spares, options.file_bytes, most));
  wal::writer writer(world.fs, world.random, world.clock, options, found.end);
  auto c = std::make_shared<core>(world, std::move(options), std::move(writer));
  c->spares = {spares.begin(), spares.end()};
  for (const std::string& name : found.spares) {
    c->next_spare = std::max(c->next_spare, *format::parse_spare_name(name) + 1);
  }
  c->positions = std::move(found.positions);
  c->files = std::move(found.files);
  if (!found.end.file) {
    BRAID_TRY_VOID(begin_log(*c));
  } else if (!found.vouched) {
    c->marked = false;
    c->last_write = world.clock.now();
    world.owner.post([weak = std::weak_ptr(c)] {
      const auto c = weak.lock();
      if (c != nullptr && !c->closed) watch_idleness(c);
    });
  }
  for (const auto& group : recovered) c->appended[group.group] = group.last_index;
  c->counters.cut_bytes = found.cut_bytes;
  return std::unique_ptr<log>(std::make_unique<log_impl>(std::move(c), std::move(recovered)));
}

}  // namespace braidmq::wal
