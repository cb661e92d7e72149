#include "k8s/event_writer.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "k8s/errc.hpp"
#include "k8s/time.hpp"

namespace braidmq::k8s {
namespace {

using namespace std::chrono_literals;

const resource_type events{"events.k8s.io", "v1", "Event", "events"};
constexpr io::duration window = 5min;
constexpr io::duration poll = 1s;
// Limits of the API's validation.
constexpr std::size_t max_note = 1024, max_reason = 128, max_action = 128, max_instance = 128, max_name = 253;

}  // namespace

std::string cut_text(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text;
}

struct event_writer::series {
  json object;
  bool is_written = false;
  std::int64_t count = 1;
  std::int64_t written_count = 1;
  std::int64_t last_unix_ms = 0;
  io::time_point last;
  io::time_point window_end;
};

event_writer::event_writer(client& api, event_writer_options options, const io::clock& clock, io::random_source& random)
    : api_(api), options_(std::move(options)), clock_(clock), random_(random) {}

event_writer::~event_writer() {
  stop();
}

json event_writer::to_object(const object_reference& regarding, event_type type, const std::string& reason,
                             const std::string& action, const std::string& note) {
  const std::string suffix = fmt::format(".{:016x}", random_.next_u64());
  const std::string& where = regarding.key.namespace_name;
  json object = {
      {"apiVersion", events.api_version()},
      {"kind", events.kind},
      {"metadata",
       {{"name", cut_text(regarding.key.name, max_name - suffix.size()) + suffix},
        {"namespace",
         where.empty() ? "default" : where}}},  // where kubectl looks for those of kinds without namespaces
      {"eventTime", format_micro_time(clock_.wall_ms())},
      {"reportingController", options_.controller},
      {"reportingInstance", cut_text(options_.instance, max_instance)},
      {"action", cut_text(action, max_action)},
      {"reason", cut_text(reason, max_reason)},
      {"type", type == event_type::normal ? "Normal" : "Warning"},
      {"note", cut_text(note, max_note)},
      {"regarding", {{"apiVersion", regarding.api_version}, {"kind", regarding.kind}, {"name", regarding.key.name}}}};
  if (!where.empty()) object["regarding"]["namespace"] = where;
  if (!regarding.uid.empty()) object["regarding"]["uid"] = regarding.uid;
  if (!regarding.resource_version.empty()) object["regarding"]["resourceVersion"] = regarding.resource_version;
  return object;
}

void event_writer::record(const object_reference& regarding, event_type type, const std::string& reason,
                          const std::string& action, const std::string& note) {
  const series_key key = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", regarding.kind, regarding.key.to_string(),
                                     regarding.uid, static_cast<int>(type), reason, action, note);
  json object = to_object(regarding, type, reason, action, note);
  std::lock_guard lock(mutex_);
  ++counts_.recorded;
  const auto now = clock_.now();
  const auto known = series_.find(key);
  if (known != series_.end() && now - known->second->last < window) {
    series& same = *known->second;
    ++same.count;
    same.last = now;
    same.last_unix_ms = clock_.wall_ms();
    return;
  }
  if (queue_.size() >= options_.max_queued || (known == series_.end() && series_.size() >= options_.max_series)) {
    ++counts_.dropped;
    return;
  }
  auto fresh = std::make_unique<series>();
  fresh->object = std::move(object);
  fresh->last = now;
  fresh->last_unix_ms = clock_.wall_ms();
  fresh->window_end = now + window;
  series_[key] = std::move(fresh);
  queue_.push_back(key);
}

void event_writer::write_new() {
  for (;;) {
    series_key key;
    json object;
    {
      std::lock_guard lock(mutex_);
      if (queue_.empty()) return;
      key = std::move(queue_.front());
      queue_.pop_front();
      const auto found = series_.find(key);
      if (found == series_.end()) continue;
      object = found->second->object;
    }
    const auto written = api_.create(events, object, options_.controller);
    // A first try whose answer was lost may have made it: the name is ours alone.
    const bool good = written || written.error().code == errc::already_exists;
    std::lock_guard lock(mutex_);
    ++(good ? counts_.written : counts_.failed);
    if (good) {
      if (const auto found = series_.find(key); found != series_.end()) found->second->is_written = true;
      continue;
    }
    series_.erase(key);  // the same again is told as new
    if (!stop_.raised()) continue;
    counts_.dropped += queue_.size();  // an end does not wait for an API server that is away
    queue_.clear();
    series_.clear();
  }
}

void event_writer::write_series(bool all) {
  struct update {
    series_key key;
    json object;
    std::int64_t count;
    std::int64_t last_unix_ms;
  };
  std::vector<update> due;
  {
    std::lock_guard lock(mutex_);
    const auto now = clock_.now();
    for (auto it = series_.begin(); it != series_.end();) {
      series& one = *it->second;
      if (!all && now < one.window_end) {
        ++it;
        continue;
      }
      if (one.is_written && one.count > one.written_count) {
        due.push_back({it->first, one.object, one.count, one.last_unix_ms});
        one.written_count = one.count;
      }
      one.window_end = now + window;
      it = now - one.last >= window ? series_.erase(it) : std::next(it);
    }
  }
  for (const update& one : due) {
    const json value = {{"count", one.count}, {"lastObservedTime", format_micro_time(one.last_unix_ms)}};
    const auto written =
        api_.json_patch(events, key_of(one.object), {{{"op", "add"}, {"path", "/series"}, {"value", value}}});
    std::lock_guard lock(mutex_);
    ++(written ? counts_.written : counts_.failed);
    // Events live for an hour; one that is gone begins anew.
    if (!written && written.error().code == errc::not_found) series_.erase(one.key);
  }
}

void event_writer::write_due() {
  write_new();
  write_series(false);
}

void event_writer::write_all() {
  write_new();
  write_series(true);
}

void event_writer::start() {
  thread_ = std::thread([this]() noexcept { run(); });  // tidy: allow(thread)
}

void event_writer::run() {
  do write_due();
  while (stop_.wait_for(poll));
  write_all();
}

void event_writer::stop() {
  stop_.raise();
  if (thread_.joinable()) thread_.join();
}

event_figures event_writer::read_figures() const {
  std::lock_guard lock(mutex_);
  event_figures now = counts_;
  now.queued = queue_.size();
  return now;
}

}  // namespace braidmq::k8s
