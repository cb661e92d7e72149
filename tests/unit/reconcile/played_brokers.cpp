#include "played_brokers.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace braidmq::reconcile::testing {

bool played_brokers::is_running(const std::string& pod, const std::string& pod_uid) const {
  const auto found = running_.find(pod);
  return found != running_.end() && found->second.with.pod_uid == pod_uid;
}

std::vector<std::string> played_brokers::running() const {
  std::vector<std::string> pods;
  for (const auto& [pod, process] : running_) pods.push_back(pod);
  return pods;
}

void played_brokers::start(const broker_start& with) {
  stop(with.pod);
  if (!folders_.contains(with.claim_uid)) folders_[with.claim_uid] = {{with.id, random_.next_uuid()}, {}};
  const auto& on = folders_.at(with.claim_uid);
  peer::birth_config config{
      .self = on.life, .voters = {}, .cluster_id = uuid::parse(with.cluster_id), .may_found = with.may_found};
  for (const auto voter : with.voters) config.voters.emplace_back(voter);
  pods_.insert(with.pod);
  auto& made = running_[with.pod];
  made.with = with;
  made.birth = std::make_unique<peer::birth>(config, on.durable, random_);
  take(made, made.birth->start());
}

void played_brokers::stop(const std::string& pod) {
  const auto found = running_.find(pod);
  if (found == running_.end()) return;
  const model::broker_id id(found->second.with.id);
  running_.erase(found);
  for (auto& [name, other] : running_) other.birth->gone(id);
}

void played_brokers::take(const process& of, const peer::birth::step& step) {
  auto& on = folder_of(of);
  for (auto next = step; next.persist; next = of.birth->persisted()) on.durable = *next.persist;
  if (!on.durable.born) return;
  if (std::ranges::find(founded_, *on.durable.record) == founded_.end()) founded_.push_back(*on.durable.record);
}

void played_brokers::exchange() {
  constexpr int most = 20;  // a founding takes three
  for (int i = 0; i < most; ++i) {
    bool news = false;
    for (const auto& [from_pod, from] : running_) {
      for (const auto& [to_pod, to] : running_) {
        if (from_pod == to_pod) continue;
        const auto before = folder_of(to).durable;
        take(to, to.birth->heard(folder_of(from).life, folder_of(from).durable));
        news |= folder_of(to).durable != before;
      }
    }
    if (!news) return;
  }
  BRAID_CHECK(false, "brokers that do not stop telling each other something new");
}

std::size_t played_brokers::count_voters(const peer::founding& of) const {
  return static_cast<std::size_t>(std::ranges::count_if(running_, [&](const auto& entry) {
    const auto& on = folder_of(entry.second);
    return on.durable.born && on.durable.record == of && std::ranges::find(of.voters, on.life) != of.voters.end();
  }));
}

bool played_brokers::is_ready(const std::string& pod) const {
  const auto found = running_.find(pod);
  if (found == running_.end()) return false;
  const auto& on = folder_of(found->second);
  return on.durable.born && 2 * count_voters(*on.durable.record) > on.durable.record->voters.size();
}

fake_member played_brokers::member(const std::string& pod) const {
  const auto found = running_.find(pod);
  if (found == running_.end()) return {};
  const auto& process = found->second;
  const auto& on = folder_of(process);
  fake_member one{
      .runs = true, .id = process.with.id, .ready = is_ready(pod), .cluster_id = {}, .reasons = {}, .ids = {}};
  if (!on.durable.born) {
    one.reasons = process.birth->waits_for();
    return one;
  }
  one.cluster_id = on.durable.record->cluster_id.to_string();
  if (!one.ready) one.reasons = {"nobody is known to lead"};
  for (const auto& voter : on.durable.record->voters) one.ids.push_back(voter.broker);
  return one;
}

}  // namespace braidmq::reconcile::testing
