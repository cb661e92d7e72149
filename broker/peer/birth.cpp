#include "peer/birth.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.hpp"

namespace braidmq::peer {
namespace {

const raft::node_id* voter_of(const founding& record, std::int32_t broker) {
  const auto found = std::ranges::find(record.voters, broker, &raft::node_id::broker);
  return found == record.voters.end() ? nullptr : &*found;
}

}  // namespace

birth::birth(birth_config config, birth_state durable, io::random_source& random)
    : config_(std::move(config)), durable_(std::move(durable)) {
  BRAID_CHECK(!config_.voters.empty());
  std::ranges::sort(config_.voters);
  drawn_ = config_.cluster_id.value_or(random.next_uuid());
}

birth::step birth::start() {
  return evaluate();
}

birth::step birth::heard(const raft::node_id& from, const birth_state& theirs) {
  const bool is_voter = std::ranges::find(config_.voters, model::broker_id(from.broker)) != config_.voters.end();
  if (!is_voter || from.broker == config_.self.broker) return {};
  reports_[from.broker] = {from, theirs};
  return evaluate();
}

void birth::gone(model::broker_id broker) {
  reports_.erase(broker.value());
}

birth::step birth::persisted() {
  BRAID_CHECK(pending_.has_value(), "nothing was to be persisted");
  durable_ = *std::exchange(pending_, std::nullopt);
  step done = evaluate();
  done.tell = true;
  return done;
}

birth::step birth::evaluate() {
  step made;
  if (durable_.born) {
    made.born = !std::exchange(told_born_, true);
    return made;
  }
  if (pending_) return made;
  pending_ = next();
  made.persist = pending_;
  return made;
}

const birth::report* birth::report_of(model::broker_id broker) const {
  const auto found = reports_.find(broker.value());
  return found == reports_.end() ? nullptr : &found->second;
}

bool birth::names_own_life(const founding& record) const {
  return std::ranges::find(record.voters, config_.self) != record.voters.end();
}

// What comes after the durable state, which is not born yet; none: there is something to wait for.
std::optional<birth_state> birth::next() const {
  for (const auto& [broker, one] : reports_) {
    if (!one.state.born) continue;
    // Whoever hears of a cluster founds none. It is born for us when it is the one that we have prepared.
    if (durable_.record && durable_.record == one.state.record) return birth_state{durable_.record, true};
    return std::nullopt;
  }
  return is_founder() ? next_of_founder() : next_of_other();
}

std::optional<birth_state> birth::next_of_founder() const {
  if (!durable_.record && !config_.may_found) return std::nullopt;
  founding now{drawn_, {config_.self}};
  for (const model::broker_id voter : config_.voters) {
    if (voter.value() == config_.self.broker) continue;
    const report* theirs = report_of(voter);
    if (theirs == nullptr) return std::nullopt;
    now.voters.push_back(theirs->from);
    if (!durable_.record && theirs->state.record) return std::nullopt;  // it has prepared what nobody here knows
    if (durable_.record && theirs->state.record != durable_.record) return std::nullopt;
    if (durable_.record && voter_of(*durable_.record, theirs->from.broker) == nullptr) return std::nullopt;
  }
  std::ranges::sort(now.voters);
  if (!durable_.record) return birth_state{now, false};
  return birth_state{durable_.record, true};
}

std::optional<birth_state> birth::next_of_other() const {
  const report* founder = report_of(config_.voters.front());
  if (durable_.record || !config_.may_found || founder == nullptr || !founder->state.record) return std::nullopt;
  const founding& record = *founder->state.record;
  const bool same_voters = std::ranges::equal(record.voters, config_.voters, {}, &raft::node_id::broker,
                                              [](model::broker_id id) { return id.value(); });
  const bool same_cluster = !config_.cluster_id || *config_.cluster_id == record.cluster_id;
  if (!same_voters || !same_cluster || !names_own_life(record)) return std::nullopt;
  return birth_state{record, false};
}

// ---- words ----

std::string birth::trouble_with(const report& of) const {
  if (!of.state.record) return {};
  const founding& record = *of.state.record;
  const std::string_view what = of.state.born ? "belongs to" : "has prepared";
  const raft::node_id* own = voter_of(record, config_.self.broker);
  if (own == nullptr) {
    return fmt::format(
        "broker {} {} cluster {}, which does not know broker {}: correct the voters in the configuration",
        of.from.broker, what, record.cluster_id, config_.self.broker);
  }
  if (own->incarnation != config_.self.incarnation) {
    return fmt::format(
        "broker {} {} cluster {} with broker {} in another life: the folders here are not those of that broker. "
        "Attach them; the cluster goes on with the majority of its voters meanwhile",
        of.from.broker, what, record.cluster_id, config_.self.broker);
  }
  if (of.state.born && !durable_.record) {
    return fmt::format(
        "broker {} belongs to cluster {} together with the life of broker {} that these folders have, and they know "
        "nothing of it: they are an old copy. Attach the newest ones, or empty these",
        of.from.broker, record.cluster_id, config_.self.broker);
  }
  if (config_.cluster_id && *config_.cluster_id != record.cluster_id) {
    return fmt::format("broker {} {} cluster {}, and cluster.id is {}: correct it, or attach other folders",
                       of.from.broker, what, record.cluster_id, *config_.cluster_id);
  }
  if (durable_.record && *durable_.record != record) {
    return fmt::format(
        "broker {} {} cluster {}, and broker {} has prepared cluster {}: of a founding that was not finished nothing "
        "is lost: empty the folders of the broker that belongs to no cluster",
        of.from.broker, what, record.cluster_id, config_.self.broker, durable_.record->cluster_id);
  }
  return {};
}

std::vector<std::string> birth::waits_for() const {
  std::vector<std::string> words;
  if (durable_.born) return words;
  for (const model::broker_id voter : config_.voters) {
    if (voter.value() == config_.self.broker) continue;
    const report* theirs = report_of(voter);
    if (theirs == nullptr) {
      words.push_back(fmt::format("the first start needs all voters: broker {} is missing", voter));
    } else if (std::string trouble = trouble_with(*theirs); !trouble.empty()) {
      words.push_back(std::move(trouble));
    }
  }
  if (words.empty() && !durable_.record && !config_.may_found) {
    words.emplace_back(
        "braid.bootstrap is existing, and no voter knows of a cluster: attach the volumes with which these brokers "
        "have "
        "run; if those of a majority are gone for good, restore a backup, or set braid.bootstrap=initial to found a "
        "new, empty cluster");
  }
  if (words.empty()) words.emplace_back("the cluster is being founded");
  return words;
}

}  // namespace braidmq::peer
