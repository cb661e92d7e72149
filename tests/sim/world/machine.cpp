#include "world/machine.hpp"

#include <array>
#include <utility>

#include "net/connection_set.hpp"
#include "server/broker.hpp"
#include "server/dispatcher.hpp"
#include "world/asio_source.hpp"
#include "world/lossy_peers.hpp"

namespace braidmq::sim {
namespace {

double draw_rate(rng& chance, double most) {
  return 1.0 + most * static_cast<double>(chance.between(-1'000, 1'000)) / 1'000.0;
}

}  // namespace

// Members go in reverse: connections first, executors last, because everything else posts to them as it goes.
struct machine_host::life {
  life(scheduler& world, bool is_one_shard, std::size_t machine)
      : one_shard(is_one_shard),
        metadata(world, fmt::format("metadata-{}", machine)),
        metadata_disk(world, fmt::format("metadata-disk-{}", machine)),
        braid(world, fmt::format("braid-{}", machine)),
        wal_disk(world, fmt::format("wal-disk-{}", machine)),
        segment_disk(world, fmt::format("segment-disk-{}", machine)),
        background(world, fmt::format("background-{}", machine)),
        connections(world, fmt::format("connections-{}", machine)),
        coroutines(world, fmt::format("coroutines-{}", machine)) {}

  ~life() {
    for (sim_executor* one : executors()) one->stop();
    set.reset();
    filter.reset();
    dispatcher.reset();
    broker.reset();
    cluster.reset();
  }

  std::array<task_source*, 8> sources() {
    return {&metadata, &metadata_disk, &braid, &wal_disk, &segment_disk, &background, &connections, &coroutines};
  }
  std::array<sim_executor*, 7> executors() {
    return {&metadata, &metadata_disk, &braid, &wal_disk, &segment_disk, &background, &connections};
  }
  // Where connections are served.
  sim_executor& edge() { return one_shard ? braid : connections; }
  std::array<sim_executor*, 4> disks() { return {&metadata_disk, &wal_disk, &segment_disk, &background}; }

  const bool one_shard;
  sim_executor metadata;
  sim_executor metadata_disk;
  sim_executor braid;
  sim_executor wal_disk;
  sim_executor segment_disk;
  sim_executor background;
  sim_executor connections;
  asio_source coroutines;

  std::optional<error> fatal;
  std::shared_ptr<peer_host> on_network;        // with several machines
  std::unique_ptr<server::membership> cluster;  // likewise
  bool is_born = false;
  std::unique_ptr<server::broker> broker;
  std::optional<server::shard_environment> shard;
  std::unique_ptr<server::dispatcher> dispatcher;
  std::unique_ptr<net::frame_handler> filter;  // a planted bug between connections and dispatcher
  std::unique_ptr<net::connection_set> set;
};

machine_host::machine_host(scheduler& world, sim_executor& network, const conditions& drawn, plant planted, rng chance,
                           machine_place place)
    : world_(world),
      network_(network),
      drawn_(drawn),
      place_(place),
      network_now_(drawn.network),
      messages_now_(drawn.messages),
      planted_(planted),
      chance_(chance),
      clock_(world.clock(), drawn.clock_drift == 0 ? 1.0 : draw_rate(chance_, drawn.clock_drift)),
      fs_(chance_()),
      traced_fs_(fs_, world.events()),
      random_(chance_()) {
  fs_.set_ignore_sync(planted == plant::skip_fsync);
  if (planted == plant::lost_dirsync) traced_fs_.set_ignore_directory_sync("/");
  if (planted == plant::early_unlink) traced_fs_.set_ignore_directory_sync("/data/checkpoints");
  if (planted == plant::unsynced_segments) traced_fs_.set_ignore_sync("/data/partitions/");
  if (planted == plant::unsynced_checkpoint) traced_fs_.set_ignore_sync("/data/checkpoints/");
  if (planted == plant::checkpoint_ahead) traced_fs_.set_checkpoint_ahead();
}

machine_host::~machine_host() = default;

bool machine_host::start(double crash_in_recovery) {
  const bool cut_short = chance_.chance(crash_in_recovery);
  if (cut_short) fs_.crash_after(1 + chance_.below(chance_.chance(0.5) ? 6 : 40));
  const status opened = open_broker();
  if (opened) return true;
  const bool excused = fs_.crashed();
  if (!excused) failure_ = "the broker refused to start: " + opened.error().to_string();
  ++counters_.recoveries_cut_short;
  end_life(end_of_life::power_cut);
  return false;
}

std::optional<std::string> machine_host::start_on_damage() {
  const status opened = open_broker();
  if (opened) return std::nullopt;
  end_life(end_of_life::process_killed);
  return opened.error().to_string();
}

status machine_host::open_broker() {
  BRAID_CHECK(!life_);
  ++counters_.lives;
  life_ = std::make_unique<life>(world_, drawn_.one_shard, place_.number);
  for (sim_executor* one : life_->executors()) one->set_rate(clock_.rate());
  return place_.machines == 1 ? finish_opening() : open_membership();
}

status machine_host::open_membership() {
  server::membership_options options;
  options.id = model::broker_id(static_cast<std::int32_t>(place_.number));
  options.data_dir = drawn_.broker.data_dir;
  options.wal_dir = drawn_.broker.wal_dir;
  options.newest_apply_level = braid::newest_apply_level;
  options.secrets = {std::string(32, 's')};
  for (std::size_t i = 0; i < place_.machines; ++i) {
    options.voters.push_back({model::broker_id(static_cast<std::int32_t>(i)), peer_endpoint(i, metadata_peer_port),
                              peer_endpoint(i, braid_peer_port)});
  }
  life* const of = life_.get();
  of->on_network = std::make_shared<peer_host>();
  of->on_network->machine = place_.number;
  auto opened = server::membership::open(
      std::move(options),
      {traced_fs_, random_, clock_, of->metadata, of->metadata, place_.peers.connect_from(of->on_network, of->metadata),
       of->braid, of->braid, place_.peers.connect_from(of->on_network, of->braid), of->metadata_disk},
      [of](error why) {
        if (!of->fatal) of->fatal = std::move(why);
      });
  if (!opened) return tl::unexpected<error>(std::move(opened).error());
  of->cluster = std::move(*opened);
  of->on_network->metadata = {&of->metadata, [of](auto stream) { of->cluster->take_metadata(std::move(stream)); }};
  of->on_network->braid = {&of->braid, [of](auto stream) { of->cluster->take_braid(std::move(stream)); }};
  place_.peers.add(of->on_network);
  of->cluster->start([of] { of->is_born = true; });
  return {};
}

bool machine_host::go_on() {
  if (!life_ || life_->broker || !life_->is_born || fs_.crashed()) return true;
  const status opened = finish_opening();
  if (opened) return true;
  const bool excused = fs_.crashed() || disk_error_pending_;
  if (!excused) failure_ = "the broker refused to start: " + opened.error().to_string();
  ++counters_.recoveries_cut_short;
  end_life(end_of_life::power_cut);
  return false;
}

status machine_host::finish_opening() {
  server::broker_environment environment{
      traced_fs_,   clock_,       random_,         life_->metadata,     life_->metadata,  life_->metadata_disk,
      life_->braid, life_->braid, life_->wal_disk, life_->segment_disk, life_->background};
  environment.wrap_wal = wal_plant(planted_, life_->braid);
  environment.wrap_metadata_wal = metadata_wal_plant(planted_, life_->metadata);
  environment.wrap_braid_group = group_plant(planted_);
  environment.wrap_peers = [this](raft::group_id group, multiraft::transport& target) {
    return wrap_peers(group, target);
  };
  environment.state_hash_interval = drawn_.state_hash_interval;
  environment.on_state_hash = [this](raft::index index, const hash128& hash) { note_state_hash(index, hash); };
  server::broker_options options = drawn_.broker;
  if (planted_ == plant::early_expiry) options.producer_expiration /= 20;
  const auto on_fatal = [of = life_.get()](error why) {
    if (!of->fatal) of->fatal = std::move(why);
  };
  if (life_->cluster) {
    options.id = life_->cluster->id();
    options.advertised.front().host = fmt::format("10.0.0.{}", 2 + place_.number);
  }
  auto opened = life_->cluster ? server::broker::open(std::move(options), environment, *life_->cluster, on_fatal)
                               : server::broker::open(std::move(options), environment, on_fatal);
  if (!opened) return tl::unexpected<error>(std::move(opened).error());
  life_->broker = std::move(*opened);
  life_->shard.emplace(
      server::shard_environment{life_->coroutines.context().get_executor(), life_->edge(), life_->edge()});
  life_->dispatcher = std::make_unique<server::dispatcher>(*life_->broker, *life_->shard);
  life_->filter = frame_plant(planted_, *life_->dispatcher);
  net::frame_handler& handler = life_->filter ? *life_->filter : *life_->dispatcher;
  life_->set = std::make_unique<net::connection_set>(
      net::connection_context{life_->edge(), life_->edge(), clock_}, "PLAINTEXT", net::connection_limits{}, handler,
      std::make_shared<net::connection_limiter>(1'000, 1'000),
      [](const net::connection_info&, net::close_cause, const std::string&) {});
  life_->broker->start();
  return {};
}

std::unique_ptr<multiraft::transport> machine_host::wrap_peers(raft::group_id group, multiraft::transport& target) {
  if (auto planted = peer_plant(planted_, target)) return planted;
  sim_executor& sender = group == raft::group_id(0) ? life_->metadata : life_->braid;
  return std::make_unique<lossy_peers>(target, messages_now_, sender, chance_.split());
}

// X1, E4. What was applied was durable: whatever machine and life comes to this index, over the log or over a
// checkpoint, has the same state there.
void machine_host::note_state_hash(raft::index index, const hash128& hash) {
  ++counters_.state_hashes;
  const auto [known, first] = place_.hashes.seen.try_emplace(index, hash);
  if (first || known->second == hash || failure_) return;
  failure_ = fmt::format("recovery: the state at entry {} has the hash {}, and had {} in an earlier life or elsewhere",
                         index, hash.to_string(), known->second.to_string());
}

void machine_host::end_life(end_of_life how) {
  BRAID_CHECK(life_ != nullptr);
  if (life_->broker) counters_.producers_forgotten += life_->broker->braid().statistics().producers_expired;
  for (const auto& one : open_links()) {
    if (chance_.chance(0.5)) one->cut();
  }
  links_.clear();
  if (life_->on_network) place_.peers.remove(life_->on_network, how == end_of_life::power_cut && chance_.chance(0.5));
  if (how == end_of_life::power_cut) {
    ++counters_.power_cuts;
    fs_.power_cut(chance_, drawn_.power_cut);
  } else {
    ++counters_.kills;
    fs_.kill_process();
  }
  fs_.clear_failures();
  disk_error_pending_ = false;
  life_.reset();
}

void machine_host::stop_cleanly(std::function<void()> stopped) {
  ++counters_.clean_stops;
  life* const of = life_.get();
  if (!of->broker) {
    of->metadata.post([of, stopped = std::move(stopped)] {
      of->cluster->stop_metadata();
      stopped();
    });
    return;
  }
  of->edge().post([of, stopped = std::move(stopped)]() mutable {
    of->set->drain(std::chrono::seconds(1), [of, stopped = std::move(stopped)]() mutable {
      of->broker->stop([stopped = std::move(stopped)] { stopped(); });
    });
  });
}

bool machine_host::ready() const {
  return life_ && life_->broker && life_->broker->readiness().empty();
}

std::string machine_host::missing() const {
  if (!life_) return "the broker does not run";
  std::string all;
  for (const std::string& one : life_->broker ? life_->broker->readiness() : life_->cluster->waits_for())
    all += (all.empty() ? "" : ", ") + one;
  return all;
}

bool machine_host::refuses_writes() const {
  return life_ && life_->broker && life_->broker->disk_space().is_full;
}

std::string machine_host::figures() const {
  if (!life_ || !life_->broker) return "no figures";
  const braid::replica_stats braid = life_->broker->braid().statistics();
  const wal::stats wal = life_->broker->wal().statistics();
  std::string others;
  for (const braid::peer_stats& one : braid.peers) {
    others += fmt::format("; broker {} has {}{}", one.voter.broker, one.match,
                          one.needs_snapshot ? ", needs a snapshot" : "");
  }
  if (place_.machines > 1) {
    const auto look = [&](const char* plane, const peer::mesh& mesh) {
      for (std::size_t i = 0; i < place_.machines; ++i) {
        if (i == place_.number) continue;
        const peer::peer_status seen = mesh.status_of(model::broker_id(static_cast<std::int32_t>(i)));
        if (!seen.reachable) others += fmt::format("; {} does not reach broker {}: {}", plane, i, seen.trouble);
      }
    };
    look("braid", life_->cluster->braid_mesh());
    look("metadata", life_->cluster->metadata_mesh());
  }
  return others + fmt::format(
                      "; applied {} of {}, {} B queued, {} B behind, {} parked, {} partitions, {} being removed; {} "
                      "checkpoints to {}, "
                      "{} "
                      "failed; log {} files, {} B queued, {} spares, {} marks",
                      braid.applied_index, braid.commit_index, braid.queued_bytes, braid.write_behind_bytes,
                      braid.parked_produces, braid.partitions, braid.partitions_being_removed, braid.checkpoints.taken,
                      braid.checkpoints.last_index, braid.checkpoints.failed, wal.file_count, wal.queued_bytes,
                      wal.spare_files, wal.marks);
}

std::optional<multiraft::office> machine_host::braid_office() const {
  if (!life_ || !life_->broker) return std::nullopt;
  return life_->broker->braid().office();
}

std::optional<multiraft::office> machine_host::metadata_office() const {
  if (!life_ || !life_->broker) return std::nullopt;
  return life_->broker->controller().office();
}

raft::index machine_host::applied_index() const {
  if (!life_ || !life_->broker) return {};
  return life_->broker->braid().statistics().applied_index;
}

bool machine_host::gave_up() const {
  return life_ && life_->fatal.has_value();
}

std::string machine_host::fatal_words() const {
  return gave_up() ? life_->fatal->to_string() : std::string();
}

std::vector<std::string> machine_host::folders() const {
  return {drawn_.broker.data_dir, drawn_.broker.wal_dir};
}

std::shared_ptr<link> machine_host::connect(sim_executor& client) {
  if (!life_ || !life_->broker || (drawn_.wait_for_readiness && !ready())) return nullptr;
  auto made = std::make_shared<link>(++place_.links_made, network_, client, life_->edge(), world_.events(),
                                     chance_.split(), network_now_);
  std::erase_if(links_, [](const auto& one) { return one.expired(); });
  links_.push_back(made);
  life_->edge().post([of = life_.get(), end = std::make_shared<std::unique_ptr<io::stream>>(made->server_end())] {
    of->set->add(std::move(*end));
  });
  return made;
}

std::vector<std::shared_ptr<link>> machine_host::open_links() {
  std::vector<std::shared_ptr<link>> open;
  for (const auto& one : links_) {
    if (auto held = one.lock()) open.push_back(std::move(held));
  }
  return open;
}

void machine_host::fail_disk_once() {
  ++counters_.disk_errors;
  disk_error_pending_ = true;
  const operation kind = chance_.chance(0.5) ? operation::sync_data : operation::write;
  fs_.fail_next(kind, "*", io::errc::device_error, chance_.below(10));
}

void machine_host::toggle_full_disk() {
  disk_is_full_ = !disk_is_full_;
  if (disk_is_full_) ++counters_.full_disks;
  fs_.set_free_bytes(disk_is_full_ ? chance_.below(64U << 20U) : std::uint64_t{1} << 40U);
}

void machine_host::end_full_disk() {
  if (disk_is_full_) toggle_full_disk();
}

void machine_host::change_pace() {
  if (!life_) return;
  for (sim_executor* one : life_->executors()) one->set_weight(static_cast<unsigned>(1 + chance_.below(128)));
  if (chance_.chance(0.5)) life_->disks()[chance_.below(life_->disks().size())]->set_weight(1);
}

// Stopped and told to go on, as by SIGSTOP and SIGCONT: what came meanwhile, and timers that are due, it finds then.
void machine_host::pause(io::duration how_long) {
  if (!life_) return;
  ++counters_.pauses;
  for (task_source* one : life_->sources()) one->set_paused(true);
  network_.schedule(how_long, [this, life = counters_.lives, pause = counters_.pauses] {
    if (life_ && counters_.lives == life && counters_.pauses == pause) go_on_at_once();
  });
}

void machine_host::go_on_at_once() {
  if (!life_) return;
  for (task_source* one : life_->sources()) one->set_paused(false);
}

void machine_host::steady_network() {
  messages_now_ = message_faults{};
  network_now_ = network_options{};
  network_now_.delay_chance = 0;
}

void machine_host::steady_pace() {
  if (!life_) return;
  for (sim_executor* one : life_->executors()) one->set_weight(task_source::default_weight);
}

}  // namespace braidmq::sim
