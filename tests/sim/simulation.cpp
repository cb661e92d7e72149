#include "simulation.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "server/atomic_produce.hpp"
#include "workload/client.hpp"
#include "workload/final_reader.hpp"
#include "world/bit_rot.hpp"
#include "world/cluster.hpp"
#include "world/healthy_core.hpp"
#include "world/nemesis.hpp"
#include "world/partitions.hpp"

namespace braidmq::sim {
namespace {

constexpr io::duration patience = std::chrono::seconds(120);  // virtual; more than any request may take
constexpr std::uint64_t most_tasks = 20'000'000;

class simulation {
 public:
  explicit simulation(const run_options& options)
      : options_(options),
        chance_(options.seed),
        drawn_(draw_conditions(chance_, options.operations, options.brokers)),
        world_(chance_()),
        network_(world_, "network", task_order::any),
        client_executor_(world_, "clients"),
        cluster_(world_, network_, drawn_, options.planted, chance_),
        machine_(cluster_.at(0)),
        partitions_(drawn_.between_brokers, cluster_, world_, cluster_.is_alone() ? rng(0) : chance_.split()),
        context_{world_, cluster_, client_executor_, log_, topics_, drawn_, options.operations} {
    world_.set_task_time(drawn_.task_time);
    down_until_.resize(cluster_.size());
    for (const auto& one : cluster_.machines()) {
      nemeses_.push_back(std::make_unique<nemesis>(drawn_, *one, world_, chance_.split()));
      nemeses_.back()->set_verbose(options.verbose);
    }
    partitions_.set_verbose(options.verbose);
    log_.set_brokers(cluster_.size());
    see_clocks();
    log_.set_terms([this](std::size_t broker, std::uint64_t life) { return cluster_.term_of(broker, life); });
  }

  run_outcome run() {
    const bool alive = load() && go_on_with_majority() && quiesce() && write_last() && final_reads();
    outcome_.found =
        check_all({log_, drawn_.kept, final_read_, after_recovery_, drawn_.broker.producer_expiration.count()});
    if (!alive && outcome_.found.empty()) outcome_.found.push_back({"liveness", "the run did not come to its end"});
    if (!alive) keep_first_cause();
    if (alive && cluster_.is_alone()) judge_bit_rot();
    return finish();
  }

 private:
  // ---- the phases ----

  bool load() {
    make_clients();
    while (context_.operations_left > 0) {
      if (!advance()) return false;
      // Faults may follow each other so closely that next to nothing gets done between them.
      if (!faults_ended_ && world_.tasks_run() > most_tasks / 4) end_faults();
      // A run in which little was acknowledged proves little: it goes on, without faults.
      if (context_.operations_left == 0 && log_.acknowledgements() < least_acknowledgements(options_.operations)) {
        if (context_.operations_done > 10 * options_.operations)
          return fail("liveness", "next to nothing is acknowledged; answers to batches: " + answers_by_code());
        end_faults();
        const bool takes_writes =
            advance_until([this] { return cluster_.all_ready() && !cluster_.anyone_refuses_writes(); });
        if (!takes_writes)
          return fail("liveness", "the broker takes no writes when the faults are over: " + cluster_.describe());
        // Or readers would use up the operations while the writers wait, or a broker comes to the end of its stop.
        const io::time_point later = world_.now() + std::chrono::milliseconds(200);
        advance_until([this, later] { return world_.now() >= later; });
        context_.operations_left = options_.operations / 10 + 1;
      }
      if (world_.now() - io::time_point{} > std::chrono::hours(10)) return fail("load", "operations do not get done");
    }
    return true;
  }

  std::string answers_by_code() const {
    std::map<protocol::error_code, std::size_t> counts;
    for (const sent_batch& batch : log_.batches()) {
      for (const attempt& one : batch.attempts) {
        if (one.answered != 0) ++counts[one.code];
      }
    }
    std::string words;
    for (const auto& [code, count] : counts) {
      words += fmt::format("{}{} x {}", words.empty() ? "" : ", ", count, protocol::to_string(code));
    }
    return words;
  }

  bool are_idle() const {
    return std::ranges::all_of(clients_, [](const auto& one) { return one->idle(); });
  }

  void end_faults() {
    faults_ended_ = true;
    for (const auto& one : nemeses_) one->stop();
    partitions_.stop();
    say("faults are over");
    for (const auto& one : cluster_.machines()) {
      one->steady_network();
      one->end_full_disk();
      one->go_on_at_once();
      if (!one->running()) continue;
      one->crash_at_operation(0);
      one->steady_pace();
      one->clear_disk_failures();
    }
  }

  // V1, V2. Where a majority is well, everything can be written, whatever the others do or do not.
  bool go_on_with_majority() {
    if (cluster_.is_alone()) return true;
    end_faults();
    core_.emplace(cluster_, chance_);
    say(core_->describe());
    if (!advance_until([this] { return core_->is_at_work(); }))
      return fail("liveness",
                  fmt::format("a majority does not get on: {}; {}", core_->describe(), cluster_.describe()));
    final_reader writer(context_, chance_.split());
    writer.learn_topics();
    if (!advance_until([&] { return writer.idle(); })) return fail("liveness", "a majority does not list the topics");
    writer.write_everywhere();
    if (!advance_until([&] { return writer.idle(); }) || !writer.failure().empty())
      return fail("liveness", fmt::format("a majority does not take writes: {}; {}; {}; {}", writer.failure(),
                                          core_->describe(), cluster_.describe(), writer.describe()));
    core_->end();
    return true;
  }

  // Faults stop; whatever was asked must be answered.
  bool quiesce() {
    end_faults();
    for (const auto& one : clients_) one->finish();
    // What a client that is gone had asked for may still wait for a topic, and with it what was behind it on the
    // connection.
    const io::time_point settled = world_.now() + 2 * server::atomic_patience;
    const bool done = advance_until([this, settled] {
      return are_idle() && world_.now() >= settled && cluster_.all_ready() && !cluster_.anyone_refuses_writes();
    });
    if (done) return true;
    std::string waiting;
    for (const auto& one : clients_) {
      if (!one->idle()) waiting += "; " + one->describe();
    }
    return fail("liveness", fmt::format("not everything was answered when the faults were over: {}{}",
                                        cluster_.describe(), waiting));
  }

  // A write to every partition succeeds now.
  bool write_last() {
    final_reader reader(context_, chance_.split());
    reader.learn_topics();
    if (!advance_until([&] { return reader.idle(); })) return fail("liveness", "the topics cannot be listed");
    reader.write_everywhere();
    if (!advance_until([&] { return reader.idle(); })) return fail("liveness", "the last writes are not answered");
    if (!reader.failure().empty()) return fail("liveness", reader.failure());
    return true;
  }

  bool final_reads() {
    if (!read_everything(final_read_)) return fail("liveness", "the final read does not end");
    if (!cluster_.is_alone()) return cluster_recoveries();
    for (std::uint64_t i = 1 + chance_.below(2); i > 0; --i) {
      if (!machine_.running()) {
        // Power was cut at the end of the last one.
      } else if (chance_.chance(0.3)) {
        if (!stop_cleanly()) return fail("liveness", "the broker does not stop");
        machine_.end_life(end_of_life::process_killed);
      } else {
        machine_.end_life(chance_.chance(0.7) ? end_of_life::power_cut : end_of_life::process_killed);
      }
      double cut_short = 0.7;
      while (!machine_.start(cut_short)) {
        if (machine_.failure()) return fail("recovery", *machine_.failure());
        cut_short -= 0.1;
      }
      machine_.crash_at_operation(chance_.chance(0.5) ? 1 + chance_.below(30) : 0);
      advance_until([this] { return machine_.ready() || !machine_.running(); });
      machine_.crash_at_operation(0);
    }
    return read_everything(after_recovery_) || fail("liveness", "the read after recovery does not end");
  }

  // Replicas come to the same entry, and so to the same state (state_hash_book). Then lives end: of the leader, of a
  // follower, of all at once; whoever leads after that has everything.
  bool cluster_recoveries() {
    for (std::uint64_t i = 1 + chance_.below(3); i > 0; --i) {
      if (!become_level()) return false;
      const std::uint64_t kind = chance_.below(4);
      const std::size_t leader = cluster_.leader().value_or(0);
      for (const auto& one : cluster_.machines()) {
        const bool is_chosen = kind == 0 || (kind == 1) == (one->number() != leader) || one->number() == leader;
        if (is_chosen) one->end_life(chance_.chance(0.7) ? end_of_life::power_cut : end_of_life::process_killed);
      }
      say(kind == 0 ? "all lives end" : "lives end");
      // Brokers start again by themselves.
      if (!advance_until([this] { return cluster_.all_ready(); }))
        return fail("liveness", "not ready after the last deaths: " + cluster_.describe());
    }
    if (!read_everything(after_recovery_)) return fail("liveness", "the read after recovery does not end");
    return become_level();
  }

  bool become_level() {
    if (advance_until([this] { return cluster_.is_level(); })) return true;
    return fail("liveness", "replicas do not come to the same entry: " + cluster_.describe());
  }

  // By itself: from here on answers may be missing that are due.
  void judge_bit_rot() {
    const std::size_t known = log_.violations().size();
    if (!meet_bit_rot()) outcome_.found.push_back(*first_failure_);
    for (std::size_t i = known; i < log_.violations().size(); ++i) {
      const auto& [checker, what] = log_.violations()[i];
      outcome_.found.push_back({"damage", checker + ": " + what});
    }
  }

  // A bit of the stopped broker's files turns over. The next start finds it, names the file and changes nothing; or the
  // broker gives what it gave before, or an error in the place of records of a damaged .log file: never other records.
  // What an index says can be had from the .log file, so that damage of one is no excuse.
  bool meet_bit_rot() {
    if (!stop_cleanly()) return fail("liveness", "the broker does not stop");
    machine_.end_life(end_of_life::process_killed);
    const auto bit = draw_turned_bit(machine_.disk(), machine_.folders(), chance_);
    if (!bit) return true;
    const std::string where = fmt::format("{} byte {} mask {}", bit->path, bit->position, bit->mask);
    say("a bit turns over: " + where);
    ++outcome_.bits_turned;
    const bool is_index = bit->path.ends_with(".index") || bit->path.ends_with(".timeindex");
    if (is_index) ++outcome_.index_bits_turned;
    machine_.disk().flip_bits(bit->path, bit->position, bit->mask);
    const std::uint64_t before = hash_of_files(machine_.disk(), machine_.folders());
    const std::optional<std::string> refusal = machine_.start_on_damage();
    partition_content read;
    if (refusal) {
      say("the broker refuses: " + *refusal);
      ++outcome_.starts_refused;
      if (is_index) return fail("damage", where + ", and the broker does not start: " + *refusal);
      if (refusal->find(bit->path) == std::string::npos)
        return fail("damage", where + ", and the broker says: " + *refusal);
      if (hash_of_files(machine_.disk(), machine_.folders()) != before) {
        return fail("damage", where + ": the refused start changed files");
      }
      machine_.disk().flip_bits(bit->path, bit->position, bit->mask);
      if (!machine_.start(0)) return fail("recovery", *machine_.failure());
    }
    if (!read_everything(read)) return fail("damage", where + ": the read after it does not end");
    for (const auto& [target, log] : after_recovery_) {
      const auto now = read.find(target);
      const bool is_of_it =
          bit->path.ends_with(".log") && bit->path.find(fmt::format("/{}/", target)) != std::string::npos;
      if (now == read.end() && is_of_it && !refusal) {
        ++outcome_.reads_refused;
        continue;
      }
      const std::string differs = now == read.end() ? "cannot be read" : difference(log, now->second);
      if (!differs.empty()) {
        return fail("damage", fmt::format("{}: {} differs {}", where, to_string(target, log_), differs));
      }
    }
    return true;
  }

  // From any broker: all of them have everything.
  bool read_everything(partition_content& into) {
    if (!advance_until([this] { return cluster_.is_alone() ? cluster_.all_ready() : cluster_.is_level(); }))
      return false;
    final_reader reader(context_, chance_.split());
    reader.learn_topics();
    if (!advance_until([&] { return reader.idle(); })) return false;
    reader.read_everything();
    if (!advance_until([&] { return reader.idle(); })) return false;
    into = reader.content();
    return true;
  }

  // ---- moving on ----

  // One task, and what the faults and the brokers' ends ask for. False: the run is over.
  bool advance() {
    for (const auto& one : cluster_.machines()) {
      if (!one->running()) restart(*one);
    }
    if (cluster_.failure()) return fail("recovery", *cluster_.failure());
    if (world_.tasks_run() > most_tasks) return fail("liveness", "tasks without end");
    if (!world_.step()) return fail("liveness", "nothing is left to do, and not everything is done");
    for (std::size_t i = 0; i < cluster_.size(); ++i) {
      if (!look_after(cluster_.at(i))) return false;
      nemeses_[i]->after_task();
    }
    cluster_.look_at_offices();
    partitions_.after_task();
    see_clocks();
    return true;
  }

  void see_clocks() {
    const auto [lowest, highest] = cluster_.wall_clocks();
    log_.see_wall(lowest, highest);
  }

  bool look_after(machine_host& one) {
    if (one.power_lost()) {
      say(name_of(one) + "power cut inside of a file operation");
      one.end_life(end_of_life::power_cut);
    } else if (one.gave_up()) {
      const std::string why = one.fatal_words();
      if (!one.disk_failed()) return fail("recovery", name_of(one) + "the broker gave up without a disk error: " + why);
      say(name_of(one) + "the broker gave up: " + why);
      // Killed, the next life meets the memory that the failed sync has left behind.
      one.end_life(chance_.chance(0.5) ? end_of_life::power_cut : end_of_life::process_killed);
    } else if (!one.go_on()) {
      say(name_of(one) + "power cut inside of recovery");
    }
    return true;
  }

  std::string name_of(const machine_host& one) const {
    return cluster_.is_alone() ? std::string() : fmt::format("broker {}: ", one.number());
  }

  // A while of being down, then a start, perhaps cut short.
  void restart(machine_host& one) {
    if (core_ && core_->keeps_down(one.number())) return;
    std::optional<io::time_point>& down_until = down_until_[one.number()];
    if (!down_until) {
      const auto longest = static_cast<std::uint64_t>(drawn_.longest_downtime.count());
      down_until = world_.now() + io::duration(one.counters().lives == 0 ? 0 : chance_.below(longest));
      network_.schedule(*down_until - world_.now(), [] {});
    }
    if (world_.now() < *down_until) return;
    down_until.reset();
    if (one.start(nemeses_.front()->active() ? drawn_.faults.crash_in_recovery : 0.0)) {
      say(fmt::format("{}life {} of the broker begins", name_of(one), one.life_number()));
    } else {
      say(name_of(one) + "power cut inside of recovery");
    }
  }

  template <class Condition>
  bool advance_until(const Condition& condition) {
    const io::time_point deadline = world_.now() + patience;
    while (!condition()) {
      if (world_.now() > deadline || !advance()) return false;
    }
    return true;
  }

  bool stop_cleanly() {
    bool stopped = false;
    machine_.stop_cleanly([&stopped] { stopped = true; });
    return advance_until([&] { return stopped; });
  }

  void make_clients() {
    const auto add = [this](std::unique_ptr<client> made) {
      made->start();
      clients_.push_back(std::move(made));
    };
    add(make_topic_creator(context_, chance_.split()));
    add(make_topic_churner(context_, chance_.split()));
    add(make_metadata_reader(context_, chance_.split()));
    add(make_offset_lister(context_, chance_.split()));
    for (int i = 0; i < drawn_.producers; ++i) add(make_idempotent_producer(context_, chance_.split()));
    for (int i = 0; i < drawn_.plain_producers; ++i) add(make_plain_producer(context_, chance_.split()));
    for (int i = 0; i < drawn_.atomic_producers; ++i) {
      add(make_atomic_producer(context_, chance_.split(), (i + options_.seed) % 2 == 0));
    }
    for (int i = 0; i < drawn_.readers; ++i) add(make_fetcher(context_, chance_.split()));
    for (int i = 0; i < drawn_.session_readers; ++i) add(make_session_fetcher(context_, chance_.split()));
  }

  // ---- the verdict ----

  bool fail(std::string checker, std::string what) {
    if (!first_failure_) first_failure_ = violation{std::move(checker), std::move(what)};
    return false;
  }

  // A run that broke off has no final reads to be judged by: what counts is why, and what was seen before.
  void keep_first_cause() {
    std::erase_if(outcome_.found, [](const violation& one) {
      return one.checker == "durability" || one.checker == "topics" || one.checker == "recovery" ||
             one.checker == "list-offsets" || one.checker == "liveness" || one.checker == "atomicity";
    });
    if (first_failure_) outcome_.found.insert(outcome_.found.begin(), *first_failure_);
  }

  run_outcome finish() {
    outcome_.acknowledgements = log_.acknowledgements();
    outcome_.hash = world_.events().hash();
    outcome_.events = world_.events().events();
    outcome_.tasks = world_.tasks_run();
    outcome_.operations = context_.operations_done;
    outcome_.simulated_seconds =
        std::chrono::duration<double>(world_.now() - io::time_point(std::chrono::seconds(1))).count();
    outcome_.machine = cluster_.counters();
    outcome_.terms = cluster_.terms();
    outcome_.stalls = cluster_.peers().counters().stalls;
    for (const sent_batch& batch : log_.batches()) {
      if (batch.attempts.size() > 1) outcome_.repetitions += batch.attempts.size() - 1;
      if (batch.acknowledged() != nullptr) outcome_.records_acknowledged += batch.records;
    }
    for (const fetch_record& fetch : log_.fetches()) {
      for (const fetched_partition& one : fetch.partitions) outcome_.batches_read += one.batches.size();
    }
    for (const auto& [target, log] : final_read_) outcome_.offsets_let_go += static_cast<std::uint64_t>(log.start);
    return std::move(outcome_);
  }

  void say(const std::string& what) const {
    if (!options_.verbose) return;
    fmt::print("{:>12.6f} s  task {:>8}  {}\n", std::chrono::duration<double>(world_.now().time_since_epoch()).count(),
               world_.tasks_run(), what);
  }

  run_options options_;
  rng chance_;
  conditions drawn_;
  scheduler world_;
  sim_executor network_;
  sim_executor client_executor_;
  history log_;
  topic_directory topics_;
  cluster_host cluster_;
  machine_host& machine_;  // the first, for what is only done with one
  std::vector<std::unique_ptr<nemesis>> nemeses_;
  partition_nemesis partitions_;
  std::optional<healthy_core> core_;
  bool faults_ended_ = false;
  workload_context context_;
  std::vector<std::unique_ptr<client>> clients_;
  std::vector<std::optional<io::time_point>> down_until_;
  std::optional<violation> first_failure_;
  partition_content final_read_;
  partition_content after_recovery_;
  run_outcome outcome_;
};

}  // namespace

run_outcome run(const run_options& options) {
  return simulation(options).run();
}

}  // namespace braidmq::sim
