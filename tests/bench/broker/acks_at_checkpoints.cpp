#include <algorithm>
#include <iostream>
#include <utility>

#include <fmt/format.h>

#include "bench/broker/load.hpp"
#include "bench/broker/produce_frame.hpp"
#include "bench/broker/rows.hpp"
#include "bench/broker/samples.hpp"
#include "bench/broker/scrape.hpp"
#include "bench/broker/topics.hpp"

namespace braidmq::bench {
namespace {

constexpr std::int32_t partitions = 1000;
constexpr std::size_t connections = 16;
constexpr std::size_t value_bytes = 1024;
constexpr std::size_t checkpoints = 10;
constexpr std::size_t least_acks = 20'000;
constexpr std::size_t most_checkpoints = 60;
constexpr double most_ratio = 2;
// A broker takes one each interval. As long as a checkpoint takes at most this part of it, quiet spans are long enough.
constexpr double most_of_interval = 0.7;
constexpr double interval_factor = 2;  // as much quiet as not; one that takes longer leaves none
constexpr auto first_interval = std::chrono::seconds(3);
constexpr auto longest_interval = std::chrono::seconds(60);

// What was written between two checkpoints, in the order of the answers.
struct observation {
  std::vector<ack> acks;
  std::vector<checkpoint_span> spans;
};

// From the end of one checkpoint, which does not count, to the end of the last one.
result<observation> observe(const broker_process& broker, const std::vector<bytes>& frames, std::size_t how_many) {
  BRAID_TRY(client, load::open(broker.where().kafka, connections, 1));
  const checkpoint_watch watch(broker.admin());
  observation got;
  const auto next = [&](std::uint64_t request) { return frames[request % frames.size()].view(); };
  std::uint64_t answers = 0;
  std::size_t reported = 0;
  BRAID_TRY_VOID(client->run(next, [&](const ack& one) {
    constexpr std::uint64_t look_every = 1024;
    if (++answers % look_every == 0 && !watch.state()) return go::drain;
    if (watch.seen() > 0) got.acks.push_back(one);
    if (watch.seen() > reported) {
      reported = watch.seen();
      std::cerr << fmt::format("  checkpoint {} of {}\n", reported, how_many + 1);
    }
    return watch.seen() < how_many + 1 ? go::on : go::drain;
  }));
  BRAID_TRY_VOID(watch.state());
  got.spans = watch.spans();
  return got;
}

struct division {
  samples at_checkpoints;
  samples quiet;
  std::size_t quiet_spans = 0;
  std::size_t fewest_between = 0;  // acknowledgements from one checkpoint's begin to the next one's
  samples took;
};

// Under way at any time between sending and answer counts as at a checkpoint.
division divide(const observation& got) {
  division made;
  made.fewest_between = got.acks.size();
  std::size_t since = 0;
  std::size_t current = 1;  // of the spans; the first one only says where quiet begins
  bool in_quiet = false;
  for (const ack& one : got.acks) {
    if (one.sent < got.spans.front().to) continue;
    while (current < got.spans.size() && got.spans[current].to < one.sent) ++current;
    if (current == got.spans.size()) break;
    ++since;
    const bool was_quiet = std::exchange(in_quiet, one.acked < got.spans[current].from);
    if (in_quiet) {
      if (!was_quiet) ++made.quiet_spans;
      made.quiet.add(one.acked - one.sent);
      continue;
    }
    made.at_checkpoints.add(one.acked - one.sent);
    if (made.took.size() == current) continue;
    // The first one at this checkpoint.
    made.took.add(got.spans[current].took);
    made.fewest_between = std::min(made.fewest_between, since);
    since = 0;
  }
  return made;
}

std::string words_of(samples& of) {
  return fmt::format("p50 {:.2f}, p99 {:.2f}, p99.9 {:.2f}, max {:.2f} ms", milliseconds(of.at(0.5)),
                     milliseconds(of.at(0.99)), milliseconds(of.at(0.999)), milliseconds(of.at(1)));
}

row row_of(division& got, io::duration interval) {
  const double ratio = milliseconds(got.at_checkpoints.at(0.99)) / milliseconds(got.quiet.at(0.99));
  row made;
  made.what = "Acks while 1,000 dirty partitions are checkpointed, p99 against quiet spans";
  made.measured = fmt::format("{:.2f} x", ratio);
  made.wanted = fmt::format("<= {:.0f} x", most_ratio);
  made.held = ratio <= most_ratio;
  made.note = fmt::format(
      "{} checkpoints (median {:.2f} s, every {:.1f} s) with {} acks: {}\n    {} quiet spans with {} acks: {}\n"
      "    at least {} acks from one checkpoint to the next, round robin over the partitions; {} connections",
      got.took.size(), seconds(got.took.at(0.5)), seconds(interval), got.at_checkpoints.size(),
      words_of(got.at_checkpoints), got.quiet_spans, got.quiet.size(), words_of(got.quiet), got.fewest_between,
      connections);
  for (auto& [name, of] :
       {std::pair<std::string, samples*>{"checkpoint", &got.at_checkpoints}, {"quiet", &got.quiet}}) {
    made.figures[name + "_acks"] = static_cast<double>(of->size());
    made.figures[name + "_p50_ms"] = milliseconds(of->at(0.5));
    made.figures[name + "_p99_ms"] = milliseconds(of->at(0.99));
    made.figures[name + "_p999_ms"] = milliseconds(of->at(0.999));
    made.figures[name + "_max_ms"] = milliseconds(of->at(1));
  }
  made.figures["ratio"] = ratio;
  made.figures["checkpoints"] = static_cast<double>(got.took.size());
  return made;
}

}  // namespace

result<std::vector<row>> acks_at_checkpoints(const bench_options& options) {
  std::vector<bytes> frames;
  for (std::int32_t p = 0; p < partitions; ++p) {
    BRAID_TRY(frame, produce_frame({{"dirty", p, 1, value_bytes}}));
    frames.push_back(std::move(frame));
  }
  std::chrono::milliseconds interval = first_interval;
  while (true) {
    BRAID_TRY(settings, fresh_broker(options, "checkpoints"));
    settings.keys["braid.checkpoint.interval.ms"] = std::to_string(interval.count());
    settings.keys["braid.checkpoint.bytes"] = std::to_string(std::uint64_t{64} << 30U);  // by time alone
    BRAID_TRY(broker, broker_process::start(settings));
    BRAID_TRY_VOID(create_topic(broker->where().kafka, "dirty", partitions));
    // The first one has begun before every partition was written to.
    BRAID_TRY(trial, observe(*broker, frames, 1));
    const io::duration took = trial.spans.back().took;
    if (seconds(took) > most_of_interval * seconds(interval) && interval < longest_interval) {
      const auto wanted = std::chrono::duration<double>(took) * interval_factor;
      interval =
          std::min<std::chrono::milliseconds>(longest_interval, std::chrono::ceil<std::chrono::milliseconds>(wanted));
      std::cerr << fmt::format("  a checkpoint takes {:.1f} s: one every {:.1f} s\n", seconds(took), seconds(interval));
      continue;
    }
    for (std::size_t wanted = checkpoints;; wanted *= 2) {
      BRAID_TRY(got, observe(*broker, frames, wanted));
      division divided = divide(got);
      const std::size_t fewest = std::min(divided.at_checkpoints.size(), divided.quiet.size());
      if (divided.fewest_between < frames.size() || (fewest < least_acks && wanted > most_checkpoints)) {
        return fail(std::make_error_code(std::errc::message_size),
                    fmt::format("{} acks between checkpoints at the least, {} of the rarer kind: too few",
                                divided.fewest_between, fewest));
      }
      if (fewest < least_acks) continue;
      BRAID_TRY_VOID(broker->stop());
      return std::vector<row>{row_of(divided, interval)};
    }
  }
}

}  // namespace braidmq::bench
