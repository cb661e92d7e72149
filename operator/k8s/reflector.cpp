#include "k8s/reflector.hpp"

#include <fmt/format.h>

#include "k8s/api_status.hpp"
#include "k8s/list_page.hpp"

namespace braidmq::k8s {

reflector::reflector(client& api, reflector_options options, reflector_sink& sink, const io::clock& clock,
                     io::random_source& random)
    : api_(api),
      options_(std::move(options)),
      sink_(sink),
      clock_(clock),
      plan_(options_.timing, clock, random),
      last_event_(clock.now()),
      last_step_(clock.now()) {}

void reflector::run(stop_signal& stop) {
  while (!stop.raised()) {
    const reflector_plan::step step = plan_.next();
    note_step();
    if (step.wait > io::duration{} && !stop.wait_for(step.wait)) return;
    if (step.what == reflector_plan::step::kind::list) {
      list(step, stop.flag());
    } else {
      watch(step, stop.flag());
    }
  }
}

void reflector::list(const reflector_plan::step& step, const std::atomic<bool>& cancel) {
  list_options wanted{.namespace_name = options_.namespace_name,
                      .label_selector = options_.label_selector,
                      .field_selector = options_.field_selector,
                      .limit = options_.page_size,
                      .resource_version = step.resource_version,
                      .metadata_only = options_.metadata_only};
  sink_.list_started();
  while (!cancel) {
    auto page = api_.list(options_.type, wanted);
    note_step();
    if (!page) {
      // 410 for a continue token too: the next step is a list from its first page.
      note_error(page.error());
      plan_.list_failed(page.error());
      return;
    }
    for (json& item : page->items) sink_.list_item(std::move(item));
    wanted.continue_token = page->continue_token;
    if (!wanted.continue_token.empty()) continue;
    sink_.list_finished();
    plan_.listed(page->resource_version);
    note_event();
    std::lock_guard lock(mutex_);
    ++counts_.lists;
    counts_.synced = true;
    counts_.last_error.clear();
    return;
  }
}

bool reflector::take_event(const std::string& type, json&& object, std::optional<error>& in_stream) {
  if (type == "ERROR") {
    in_stream = to_error(decode_stream_status(object), operation::read);
    return false;
  }
  note_event();
  const std::string version(resource_version_of(object));
  if (type == "DELETED") {
    sink_.deleted(std::move(object));
  } else if (type != "BOOKMARK") {
    sink_.changed(std::move(object));
  }
  // Only now: what was not given to the sink must come again.
  plan_.saw(version);
  return true;
}

void reflector::watch(const reflector_plan::step& step, const std::atomic<bool>& cancel) {
  const watch_options wanted{.namespace_name = options_.namespace_name,
                             .label_selector = options_.label_selector,
                             .field_selector = options_.field_selector,
                             .resource_version = step.resource_version,
                             .timeout = step.timeout,
                             .metadata_only = options_.metadata_only};
  std::optional<error> in_stream;
  const auto started = clock_.now();
  const auto ended = api_.watch(options_.type, wanted, cancel, [&](const std::string& type, json&& object) {
    return take_event(type, std::move(object), in_stream);
  });
  const char* reason = plan_.watch_ended(ended, in_stream, clock_.now() - started);
  note_step();
  if (in_stream) note_error(*in_stream);
  if (!ended && ended.error().code != errc::canceled) note_error(ended.error());
  std::lock_guard lock(mutex_);
  ++counts_.watch_restarts[reason];
}

void reflector::note_step() {
  std::lock_guard lock(mutex_);
  last_step_ = clock_.now();
}

void reflector::note_event() {
  std::lock_guard lock(mutex_);
  ++counts_.events;
  counts_.last_event_unix_ms = clock_.wall_ms();
  last_event_ = last_step_ = clock_.now();
}

void reflector::note_error(const error& why) {
  std::lock_guard lock(mutex_);
  counts_.last_error = why.to_string();
}

reflector_figures reflector::read_figures() const {
  std::lock_guard lock(mutex_);
  reflector_figures now = counts_;
  now.since_last_event = clock_.now() - last_event_;
  now.since_last_step = clock_.now() - last_step_;
  return now;
}

std::optional<std::string> reflector::stuck() const {
  const auto silent = read_figures().since_last_step;
  if (silent <= 2 * options_.timing.watch_timeout_max) return std::nullopt;
  return fmt::format("the watch of {} has been silent for {} s", options_.type.plural,
                     std::chrono::duration_cast<std::chrono::seconds>(silent).count());
}

}  // namespace braidmq::k8s
