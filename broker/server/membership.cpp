#include "server/membership.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.hpp"
#include "peer/birth_codec.hpp"
#include "server/folder_checks.hpp"

namespace braidmq::server {
namespace {

constexpr std::string_view founding_file = "braidmq.founding";

std::vector<model::broker_id> ids_of(const std::vector<voter_address>& voters) {
  std::vector<model::broker_id> ids;
  for (const voter_address& one : voters) ids.push_back(one.broker);
  std::ranges::sort(ids);
  return ids;
}

}  // namespace

class membership::mesh_transport final : public multiraft::transport {
 public:
  explicit mesh_transport(peer::mesh& over) : over_(over) {}
  void send(raft::group_id group, raft::message message) override { over_.send(group, message); }

 private:
  peer::mesh& over_;
};

result<std::unique_ptr<membership>> membership::open(membership_options options, membership_environment environment,
                                                     unique_function<void(error)> on_fatal) {
  if (options.voters.empty()) options.voters.push_back({options.id, {}, {}});
  std::ranges::sort(options.voters, {}, &voter_address::broker);
  BRAID_CHECK(std::ranges::find(options.voters, options.id, &voter_address::broker) != options.voters.end());
  // Among several an empty folder founds nothing and has no vote: the broker can run, and say what it lacks.
  const bool may_form = options.may_found || options.voters.size() > 1;
  BRAID_TRY(folders, storage::data_folders::open(environment.fs, environment.random,
                                                 {options.data_dir, options.wal_dir, options.id, may_form}));
  std::unique_ptr<membership> made(
      new membership(std::move(options), std::move(environment), std::move(on_fatal), std::move(folders)));
  BRAID_TRY_VOID(made->look_for_founding());
  return made;
}

membership::membership(membership_options options, membership_environment environment,
                       unique_function<void(error)> on_fatal, storage::data_folders folders)
    : options_(std::move(options)),
      environment_(std::move(environment)),
      on_fatal_(std::move(on_fatal)),
      folders_(std::move(folders)),
      founding_path_(fmt::format("{}/{}", options_.wal_dir, founding_file)),
      reachable_(std::make_unique<std::atomic<bool>[]>(options_.voters.size())) {}

membership::~membership() = default;

// What the folders know, and whether the configuration speaks of the same.
status membership::look_for_founding() {
  BRAID_TRY(is_there, environment_.fs.exists(founding_path_));
  if (is_there) {
    BRAID_TRY(content, io::read_file(environment_.fs, founding_path_, peer::max_birth_file_bytes));
    auto state = peer::birth_in_file(content);
    if (!state) {
      return fail(storage::folder_errc::damaged, fmt::format("{}: {}: restore the volume, or empty both to begin anew",
                                                             founding_path_, state.error().to_string()));
    }
    durable_ = std::move(*state);
  }
  const std::vector<model::broker_id> configured = ids_of(options_.voters);
  if (durable_.record) {
    const peer::founding& known = *durable_.record;
    std::vector<model::broker_id> ids;
    for (const raft::node_id& voter : known.voters) ids.emplace_back(voter.broker);
    if (ids != configured) {
      return fail(
          storage::folder_errc::mixed,
          fmt::format("{} belongs to a cluster with the voters {}, but controller.quorum.voters names {}: voters "
                      "cannot be changed yet, so name the same",
                      options_.wal_dir, fmt::join(ids, ", "), fmt::join(configured, ", ")));
    }
    if (std::ranges::find(known.voters, raft::node_id{options_.id.value(), incarnation()}) == known.voters.end()) {
      return fail(storage::folder_errc::mixed,
                  fmt::format("{} is of another life than {}: attach the volumes that belong together", founding_path_,
                              options_.data_dir));
    }
    if (options_.cluster_id && *options_.cluster_id != known.cluster_id) {
      return fail(storage::folder_errc::mixed,
                  fmt::format("{} belongs to cluster {}, but cluster.id is {}: attach the volumes of this cluster, or "
                              "correct cluster.id",
                              options_.wal_dir, known.cluster_id, *options_.cluster_id));
    }
  }
  if (is_alone()) {
    founding_.voters = {{options_.id.value(), incarnation()}};
    born_ = true;
    return {};
  }
  const broker_folders folders(options_.data_dir, options_.wal_dir);
  BRAID_TRY(has_log, environment_.fs.exists(folders.metadata_log));
  if (has_log && !durable_.born) {
    return fail(storage::folder_errc::mixed,
                fmt::format("{} holds the log of a broker that was a cluster of its own, and controller.quorum.voters "
                            "names {}: brokers cannot be added yet. Leave it empty, or name empty folders",
                            options_.wal_dir, fmt::join(configured, ", ")));
  }
  if (durable_.born) {
    founding_ = *durable_.record;
    options_.cluster_id = founding_.cluster_id;
    born_ = true;
  }
  metadata_mesh_ = std::make_unique<peer::mesh>(
      peer::mesh_environment{environment_.metadata, environment_.metadata_timers, environment_.clock,
                             environment_.random, environment_.connect_metadata},
      identity(), peer::secrets(options_.secrets), options_.mesh);
  metadata_transport_ = std::make_unique<mesh_transport>(*metadata_mesh_);
  if (born_) make_braid_mesh();
  words_ = {"the founding of the cluster is being looked for"};
  return {};
}

peer::identity membership::identity() const {
  peer::identity self;
  self.broker = options_.id;
  self.incarnation = incarnation();
  self.cluster_id = founding_.cluster_id;
  self.newest_apply_level = options_.newest_apply_level;
  return self;
}

void membership::make_braid_mesh() {
  braid_mesh_ = std::make_unique<peer::mesh>(
      peer::mesh_environment{environment_.braid, environment_.braid_timers, environment_.clock, environment_.random,
                             environment_.connect_braid},
      identity(), peer::secrets(options_.secrets), options_.mesh);
  braid_transport_ = std::make_unique<mesh_transport>(*braid_mesh_);
  braid_mesh_->on_reach([this](model::broker_id broker, const peer::acquaintance* other) {
    if (other == nullptr || !on_apply_level_) return;
    on_apply_level_({broker.value(), other->other.incarnation}, other->other.newest_apply_level);
  });
}

void membership::on_apply_level(unique_function<void(const raft::node_id&, std::int16_t)> changed) {
  on_apply_level_ = std::move(changed);
}

// ---- birth ----

void membership::start(unique_function<void()> born) {
  environment_.metadata.post([this, born = std::move(born)]() mutable {
    if (stopped_) return;
    on_born_ = std::move(born);
    if (is_alone()) return std::exchange(on_born_, nullptr)();
    birth_.emplace(
        peer::birth_config{
            {options_.id.value(), incarnation()}, ids_of(options_.voters), options_.cluster_id, options_.may_found},
        durable_, environment_.random);
    metadata_mesh_->listen(peer::frame_kind::birth, [this](const peer::acquaintance& from, const bytes& frame) {
      const auto theirs = peer::birth_in_frame(frame);
      if (!theirs || stopped_) return;
      // Who does not know yet that the cluster is born asks by telling.
      if (!theirs->born && birth_->durable().born) metadata_mesh_->send(from.other.broker, to_frame(birth_->durable()));
      run(birth_->heard({from.other.broker.value(), from.other.incarnation}, *theirs));
    });
    metadata_mesh_->on_reach([this](model::broker_id broker, const peer::acquaintance* other) {
      const bool is_there = other != nullptr && may_be_voter({broker.value(), other->other.incarnation});
      for (std::size_t i = 0; i < options_.voters.size(); ++i) {
        if (options_.voters[i].broker == broker) reachable_[i] = is_there;
      }
      if (other == nullptr) {
        birth_->gone(broker);
        note_words();
      } else {
        metadata_mesh_->send(broker, to_frame(birth_->durable()));
      }
      for (auto& listener : on_reach_) listener(broker, is_there);
    });
    for (const voter_address& one : options_.voters) metadata_mesh_->set_address(one.broker, one.metadata);
    run(birth_->start());
    tell_now_and_then();
  });
}

// A broker that lost its volume comes back in another life, in which it has no part in this cluster.
bool membership::may_be_voter(const raft::node_id& life) const {
  return !born_ || std::ranges::find(founding_.voters, life) != founding_.voters.end();
}

void membership::run(peer::birth::step step) {
  if (step.persist) write_down(*step.persist);
  if (step.tell) tell_all();
  if (step.born) end_birth();
  note_words();
}

void membership::write_down(const peer::birth_state& state) {
  environment_.metadata_disk.post([this, content = to_file(state), path = founding_path_, &fs = environment_.fs,
                                   &owner = environment_.metadata, alive = std::weak_ptr(alive_)] {
    status written = io::write_file_atomically(fs, path, content);
    owner.post([this, alive, written = std::move(written)] {
      if (alive.expired() || stopped_) return;
      if (!written) return on_fatal_(with_context(written.error(), founding_path_));
      run(birth_->persisted());
    });
  });
}

void membership::tell_all() {
  for (const voter_address& one : options_.voters) {
    if (one.broker != options_.id) metadata_mesh_->send(one.broker, to_frame(birth_->durable()));
  }
}

void membership::tell_now_and_then() {
  if (stopped_ || birth_->durable().born) return;
  tell_all();
  tell_timer_ = environment_.metadata_timers.schedule(options_.tell_interval, [this] { tell_now_and_then(); });
}

void membership::note_words() {
  std::vector<std::string> now = birth_->waits_for();
  const std::lock_guard guard(words_mutex_);
  words_ = std::move(now);
}

void membership::end_birth() {
  if (!born_) {
    founding_ = *birth_->durable().record;
    options_.cluster_id = founding_.cluster_id;
    metadata_mesh_->set_cluster(founding_.cluster_id);
    make_braid_mesh();
    born_.store(true, std::memory_order_release);
  }
  environment_.braid.post([this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    for (const voter_address& one : options_.voters) braid_mesh_->set_address(one.broker, one.braid);
  });
  std::exchange(on_born_, nullptr)();
}

void membership::stop_metadata() {
  stopped_ = true;
  on_born_ = nullptr;
  environment_.metadata_timers.cancel(tell_timer_);
  if (metadata_mesh_) metadata_mesh_->stop();
}

void membership::stop_braid() {
  if (braid_mesh_) braid_mesh_->stop();
}

std::vector<std::string> membership::waits_for() const {
  if (is_born()) return {};
  const std::lock_guard guard(words_mutex_);
  return words_;
}

// ---- connections ----

bool membership::is_reachable(model::broker_id broker) const {
  if (broker == options_.id) return true;
  for (std::size_t i = 0; i < options_.voters.size(); ++i) {
    if (options_.voters[i].broker == broker) return reachable_[i];
  }
  return false;
}

void membership::take_metadata(std::unique_ptr<io::stream> stream) {
  if (metadata_mesh_) metadata_mesh_->take(std::move(stream));
}

// Before the birth nobody replicates anything: closed, and opened again later.
void membership::take_braid(std::unique_ptr<io::stream> stream) {
  if (is_born() && braid_mesh_) braid_mesh_->take(std::move(stream));
}

multiraft::transport* membership::metadata_transport() {
  return metadata_transport_.get();
}

multiraft::transport* membership::braid_transport() {
  return braid_transport_.get();
}

void membership::listen_metadata(raft::group_id group, unique_function<void(raft::message)> take) {
  if (metadata_mesh_) metadata_mesh_->listen(group, std::move(take));
}

void membership::listen_braid(raft::group_id group, unique_function<void(raft::message)> take) {
  if (braid_mesh_) braid_mesh_->listen(group, std::move(take));
}

}  // namespace braidmq::server
