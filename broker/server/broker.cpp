#include "server/broker.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "metadata/errc.hpp"
#include "server/folder_checks.hpp"
#include "server/topic_settings.hpp"

namespace braidmq::server {
namespace {

constexpr raft::group_id metadata_group{0};
constexpr raft::group_id braid_group{1};
constexpr std::uint64_t metadata_wal_file_bytes = 8ULL << 20U;  // few entries, and small ones
constexpr std::uint64_t metadata_checkpoint_bytes = 16ULL << 20U;

void set_group(multiraft::group_options& group, const broker_options& options, const membership& cluster,
               std::uint64_t seed) {
  group.tick_interval = options.heartbeat;
  raft::config& config = group.raft;
  config.self = {cluster.id().value(), cluster.incarnation()};
  config.voters = cluster.voters();
  config.election_ticks =
      static_cast<std::uint32_t>(std::max<std::int64_t>(options.election_timeout / options.heartbeat, 2));
  config.seed = seed;
}

// What is under way when writes begin to be refused: entries, in the log and in segments; what was applied and waits
// for segments; the log's next files; a checkpoint.
std::uint64_t written_after_refusal(const broker_options& options) {
  constexpr std::uint64_t checkpoint = 32ULL << 20U;
  const std::uint64_t entries = braid::replica_options().in_flight_bytes + options.aggregator.entry_target_bytes;
  return 2 * entries + options.write_behind_max_bytes + 2 * options.wal_file_bytes + checkpoint;
}

}  // namespace

result<std::unique_ptr<broker>> broker::open(broker_options options, broker_environment environment,
                                             membership& cluster, unique_function<void(error)> on_fatal) {
  BRAID_CHECK(cluster.is_born() && cluster.id() == options.id);
  options.cluster_id = cluster.cluster_id();
  // What all voters have written down may be founded in the log, whenever that comes to be.
  options.may_found = cluster.may_found() || !cluster.is_alone();
  std::unique_ptr<broker> made(new broker(std::move(options), environment, cluster, std::move(on_fatal)));
  BRAID_TRY_VOID(made->open_planes());
  return made;
}

result<std::unique_ptr<broker>> broker::open(broker_options options, broker_environment environment,
                                             unique_function<void(error)> on_fatal) {
  membership_options alone;
  alone.id = options.id;
  alone.data_dir = options.data_dir;
  alone.wal_dir = options.wal_dir;
  alone.cluster_id = options.cluster_id;
  alone.may_found = options.may_found;
  BRAID_TRY(cluster, membership::open(std::move(alone),
                                      {environment.fs, environment.random, environment.clock, environment.metadata,
                                       environment.metadata_timers, nullptr, environment.braid,
                                       environment.braid_timers, nullptr, environment.metadata_disk},
                                      [](const error&) {}));
  BRAID_TRY(made, open(std::move(options), environment, *cluster, std::move(on_fatal)));
  made->own_cluster_ = std::move(cluster);
  return std::move(made);
}

broker::broker(broker_options options, broker_environment environment, membership& cluster,
               unique_function<void(error)> on_fatal)
    : options_(std::move(options)),
      environment_(environment),
      on_fatal_(std::move(on_fatal)),
      cluster_(cluster),
      disk_guard_({{options_.data_dir, options_.wal_dir}, options_.disk_reserve_bytes, written_after_refusal(options_)},
                  {environment_.fs, environment_.metadata_disk, environment_.braid, environment_.braid_timers},
                  [this](bool is_full, const std::string& why) {
                    replica_->set_disk_full(is_full);
                    if (environment_.on_disk_full) environment_.on_disk_full(is_full, why);
                  }) {}

status broker::open_planes() {
  if (options_.braid_voters.empty()) {
    for (const raft::node_id& voter : cluster_.voters()) options_.braid_voters.emplace_back(voter.broker);
    std::ranges::sort(options_.braid_voters);
  }
  const broker_folders folders(options_.data_dir, options_.wal_dir);
  BRAID_TRY_VOID(check_whole(environment_.fs, folders));
  for (const std::string& folder : {folders.metadata_log, folders.braid_log, folders.partitions}) {
    BRAID_TRY_VOID(environment_.fs.make_directories(folder));
  }
  wal::options wal_options;
  wal_options.preallocate = options_.wal_preallocate;
  wal_options.file_bytes = std::min(options_.wal_file_bytes, metadata_wal_file_bytes);
  wal_options.folder = folders.metadata_log;
  BRAID_TRY(metadata_wal, wal::log::open({environment_.fs, environment_.metadata_disk, environment_.segment_disk,
                                          environment_.metadata, environment_.metadata_timers, environment_.random,
                                          environment_.clock},
                                         wal_options));
  metadata_wal_ = environment_.wrap_metadata_wal ? environment_.wrap_metadata_wal(std::move(metadata_wal))
                                                 : std::move(metadata_wal);
  wal_options.folder = folders.braid_log;
  wal_options.file_bytes = options_.wal_file_bytes;
  const io::time_point before_log = environment_.clock.now();
  BRAID_TRY(braid_wal,
            wal::log::open({environment_.fs, environment_.wal_disk, environment_.segment_disk, environment_.braid,
                            environment_.braid_timers, environment_.random, environment_.clock},
                           wal_options));
  wal_ = environment_.wrap_wal ? environment_.wrap_wal(std::move(braid_wal)) : std::move(braid_wal);
  const wal::stats log = wal_->statistics();
  tell_phase(fmt::format("log of the braid read: {} files, {} bytes", log.file_count, log.file_bytes),
             environment_.clock.now() - before_log);

  metadata::controller_options control;
  control.group.id = metadata_group;
  set_group(control.group, options_, cluster_, environment_.random.next_u64());
  control.group.peers = transport_of(metadata_group, cluster_.metadata_transport());
  control.replication_factor = static_cast<std::int32_t>(cluster_.voters().size());
  if (!cluster_.is_alone()) {
    forwarding_ = std::make_unique<metadata_forwarding>(cluster_.metadata_mesh(), environment_.metadata,
                                                        environment_.metadata_timers);
    control.leader = forwarding_.get();
  }
  control.broker = options_.id;
  control.rack = options_.rack;
  control.incarnation = incarnation();
  control.cluster_id = options_.cluster_id ? *options_.cluster_id : environment_.random.next_uuid();
  control.may_found = options_.may_found;
  control.default_partitions = options_.default_partitions;
  control.max_partitions = options_.max_partitions;
  control.checkpoint.path = folders.metadata_checkpoint;
  control.checkpoint.due_bytes = std::min(options_.checkpoint_bytes, metadata_checkpoint_bytes);
  control.checkpoint.due_after = options_.checkpoint_interval;
  auto controller = metadata::controller::create(
      std::move(control),
      {environment_.fs, environment_.metadata, environment_.background, environment_.metadata_timers,
       environment_.clock, environment_.random, *metadata_wal_},
      [this](error why) { fatal(std::move(why)); });
  if (!controller) {
    return tl::unexpected(explained(std::move(controller).error(), folders.metadata_checkpoint, folders.metadata_log));
  }
  controller_ = std::move(*controller);
  BRAID_TRY_VOID(check_cluster(folders));
  producer_ids_ = std::make_unique<producer_ids>(*controller_, environment_.metadata);

  braid::replica_options data;
  data.group.id = braid_group;
  set_group(data.group, options_, cluster_, environment_.random.next_u64());
  data.group.peers = transport_of(braid_group, cluster_.braid_transport());
  data.aggregator = options_.aggregator;
  data.log = options_.log;
  data.data_folder = folders.partitions;
  data.write_behind_max_bytes = options_.write_behind_max_bytes;
  data.write_behind_delay = options_.write_behind_delay;
  data.linger = options_.linger;
  data.successor_patience = options_.election_timeout;
  data.newest_apply_level = options_.newest_apply_level;
  data.segments = [this](const braid::config_values& configs) { return segments_of(configs, options_); };
  data.retention = [this](const braid::config_values& configs) { return retention_of(configs, options_); };
  data.retention_interval = options_.retention_interval;
  data.producer_expiration = options_.producer_expiration;
  data.producer_expiry_interval = options_.producer_expiry_interval;
  data.state_hash_interval = environment_.state_hash_interval;
  data.checkpoint.path = folders.braid_checkpoint;
  data.checkpoint.due_bytes = options_.checkpoint_bytes;
  data.checkpoint.due_after = options_.checkpoint_interval;
  // What may be in flight must fit below the group's own bound, or the pump would be refused.
  data.group.max_unapplied_bytes = data.in_flight_bytes + 2 * data.aggregator.entry_max_bytes;
  auto replica =
      braid::replica::create(std::move(data),
                             {environment_.fs, environment_.braid, environment_.segment_disk, environment_.background,
                              environment_.braid_timers, environment_.clock, *wal_, environment_.wrap_braid_group},
                             [this](error why) { fatal(std::move(why)); });
  if (!replica) {
    return tl::unexpected(explained(std::move(replica).error(), folders.braid_checkpoint, folders.braid_log));
  }
  replica_ = std::move(*replica);
  transfer_ = std::make_unique<office_transfer>(options_.id, *replica_, environment_.braid, *controller_,
                                                environment_.metadata, environment_.metadata_timers);
  drain_ = std::make_unique<server::drain>(options_.id, *controller_, cluster_.is_alone() ? nullptr : transfer_.get(),
                                           [this](model::broker_id other) { return is_alive(other); });
  const braid::start_stats begun = replica_->statistics().start;
  tell_phase(fmt::format("checkpoint of the braid loaded: entry {}", begun.loaded), begun.checkpoint_read_took);
  tell_phase(fmt::format("{} partitions opened", begun.partitions), begun.partitions_opened_took);
  // Last: a folder without one, beside logs that need it, must stay as it was found.
  return environment_.fs.make_directories(folders.checkpoints);
}

multiraft::transport* broker::transport_of(raft::group_id group, multiraft::transport* own) {
  if (own == nullptr || !environment_.wrap_peers) return own;
  wrapped_peers_.push_back(environment_.wrap_peers(group, *own));
  return wrapped_peers_.back().get();
}

// The logs of another cluster must not get an entry of ours before that is seen.
status broker::check_cluster(const broker_folders& folders) {
  BRAID_TRY_VOID(check_identity(*image()));
  if (!options_.cluster_id || !image()->cluster_id().is_zero()) return {};
  BRAID_TRY(founded, cluster_in_log(environment_.fs, folders.metadata_log, metadata_group));
  return check_cluster_id(founded);
}

void broker::start() {
  environment_.braid.post([this] {
    replica_->on_snapshot_wanted([this](const raft::node_id& peer) { tell_snapshot_wanted(peer); });
    replica_->on_caught_up([this] {
      braid_caught_up_ = true;
      tell_applied();
    });
    replica_->on_state_hash(environment_.on_state_hash);
    replica_->on_deletions_applied([this](std::uint64_t through) {
      environment_.metadata.post([this, through] { controller_->forget_deletions(through); });
    });
    cluster_.on_apply_level(
        [this](const raft::node_id& voter, std::int16_t newest) { replica_->note_level(voter, newest); });
    cluster_.listen_braid(braid_group, [this](raft::message message) { replica_->step(std::move(message)); });
    replica_->start();
    disk_guard_.start();
  });
  environment_.metadata.post([this] {
    controller_->subscribe([this](const metadata::image_ptr& image) { on_image(image); });
    std::vector<metadata::advertised_listener> fixed;
    for (const endpoint& one : options_.advertised) fixed.push_back({one.listener, one.host, one.port});
    controller_->set_listeners(std::move(fixed), options_.pushed);
    if (forwarding_) {
      forwarding_->listen(
          [this](const bytes& command, auto done) { controller_->propose_for(command, std::move(done)); });
      cluster_.on_reach([this](model::broker_id other, bool is_there) {
        if (!is_there) forwarding_->gone(other);
      });
    }
    cluster_.listen_metadata(metadata_group, [this](raft::message message) { controller_->step(std::move(message)); });
    controller_->start();
  });
}

void broker::stop(unique_function<void()> stopped) {
  environment_.braid.post([this, stopped = std::move(stopped)]() mutable {
    disk_guard_.stop();
    replica_->stop();
    environment_.metadata.post([this, stopped = std::move(stopped)]() mutable {
      transfer_->stop();
      controller_->stop();
      stopped();
    });
  });
}

status broker::check_cluster_id(const uuid& found) const {
  if (!options_.cluster_id || found.is_zero() || found == *options_.cluster_id) return {};
  return fail(storage::folder_errc::mixed,
              fmt::format("{} belongs to cluster {}, but cluster.id is {}: attach the volumes of this cluster, or "
                          "correct cluster.id",
                          options_.data_dir, found, *options_.cluster_id));
}

// Whether the folders, the configuration and the cluster speak of the same broker.
status broker::check_identity(const metadata::image& image) const {
  BRAID_TRY_VOID(check_cluster_id(image.cluster_id()));
  const auto claimed = image.brokers().find(options_.id);
  if (claimed != image.brokers().end() && claimed->second.incarnation != incarnation()) {
    return fail(
        metadata::errc::broker_id_claimed,
        fmt::format("broker id {} belongs to life {}, and {} was formatted anew for life {}: attach the volumes "
                    "of the first life, or start this broker under another broker.id",
                    options_.id, claimed->second.incarnation, options_.data_dir, incarnation()));
  }
  return {};
}

// The braid hears of each change of a topic; what it lacks, its leader proposes. An image names each deletion until the
// braid is known to have applied it.
void broker::on_image(const metadata::image_ptr& image) {
  if (status same = check_identity(*image); !same) return fatal(std::move(same).error());
  const metadata::image_ptr before = std::exchange(followed_image_, image);
  const bool has_forgotten = before && !std::ranges::all_of(before->deletions(), [&image](const auto& one) {
                               return image->deletions().contains(one.first);
                             });
  if (before && before->topics_index() == image->topics_index() && !has_forgotten) return;
  const std::uint64_t before_index = before ? before->index() : 0;
  braid::topic_news news;
  news.metadata_index = image->index();
  for (const auto& [name, topic] : image->topics()) {
    if (topic->changed_index <= before_index) continue;
    news.topics.push_back({topic->id, topic->partitions, topic->configs, topic->changed_index});
  }
  for (const auto& [id, index] : image->deletions()) {
    if (index > before_index) news.deletions.push_back({id, index});
  }
  if (has_forgotten) {
    for (const auto& [id, index] : before->deletions()) {
      if (!image->deletions().contains(id)) news.forgotten.push_back(id);
    }
  }
  environment_.braid.post([this, news = std::move(news)]() mutable { replica_->follow(std::move(news)); });
}

std::vector<std::string> broker::readiness() const {
  std::vector<std::string> missing;
  if (failed_) missing.emplace_back("a disk has failed");
  const metadata::image_ptr image = controller_->current();
  if (!controller_->is_current()) {
    missing.emplace_back("the metadata log is still being read");
  } else if (image->cluster_id().is_zero()) {
    missing.emplace_back("the metadata quorum has not founded the cluster yet");
  } else if (!image->brokers().contains(options_.id)) {
    missing.push_back(fmt::format("broker id {} is not registered yet", options_.id));
  }
  if (drain_->state().draining) missing.emplace_back("the broker drains");
  if (std::string braid = missing_of_braid(); !braid.empty()) missing.push_back(std::move(braid));
  return missing;
}

// A replica that follows is as good as its leader, once it has what the leader had.
std::string broker::missing_of_braid() const {
  const multiraft::office office = replica_->office();
  if (office.serves) return {};
  if (cluster_.is_alone() || office.leader.broker == options_.id.value()) return "the braid is still applying its log";
  if (office.leader.is_none()) return "nobody is known to lead the braid";
  if (braid_caught_up_) return {};
  return fmt::format("the braid is still applying its log, behind broker {}, which leads it", office.leader.broker);
}

std::optional<endpoint> broker::advertised(const std::string& listener) const {
  const auto fixed = std::ranges::find(options_.advertised, listener, &endpoint::listener);
  if (fixed != options_.advertised.end()) return *fixed;
  const metadata::image_ptr now = image();
  const auto self = now->brokers().find(options_.id);
  if (self == now->brokers().end()) return std::nullopt;
  const metadata::advertised_listener* told = self->second.find(listener);
  if (told == nullptr) return std::nullopt;
  return endpoint{told->name, told->host, told->port};
}

cluster_view broker::view(const std::string& listener) const {
  cluster_view now;
  now.self = options_.id;
  now.image = image();
  now.braid = replica_->office();
  now.controller = controller_->office();
  now.voters = options_.braid_voters;
  now.own = advertised(listener);
  now.own_rack = options_.rack;
  now.listener = listener;
  now.alive = [this](model::broker_id other) { return is_alive(other); };
  return now;
}

bool broker::is_alive(model::broker_id other) const {
  if (other == options_.id) return true;
  if (environment_.is_alive) return environment_.is_alive(other);
  return cluster_.is_alone() || cluster_.is_reachable(other);
}

void broker::tell_phase(const std::string& done, io::duration took) const {
  if (environment_.on_start_phase) environment_.on_start_phase(done, took);
}

// Once in a life, however often the braid comes to serve.
void broker::tell_applied() {
  const braid::start_stats start = replica_->statistics().start;
  tell_phase(fmt::format("log of the braid applied: {} entries, {} bytes", start.entries_applied, start.bytes_applied),
             start.applied_took);
}

// The group says it every second.
void broker::tell_snapshot_wanted(const raft::node_id& peer) {
  constexpr io::duration between = std::chrono::minutes(1);
  const io::time_point now = environment_.clock.now();
  const auto [last, first] = snapshots_told_.try_emplace(peer.broker, now);
  if (!first && now - last->second < between) return;
  last->second = now;
  if (environment_.on_snapshot_wanted) environment_.on_snapshot_wanted(model::broker_id(peer.broker));
}

void broker::fatal(error why) {
  if (!failed_.exchange(true)) on_fatal_(std::move(why));
}

}  // namespace braidmq::server
