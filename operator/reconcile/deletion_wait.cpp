#include "reconcile/deletion_wait.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reconcile/write.hpp"

namespace braidmq::reconcile {
namespace {

constexpr std::int64_t grace_s = 10;

}  // namespace

deletion_wait::deletion_wait(const environment& env, const api::row& of) : env_(env), of_(of) {}

void deletion_wait::add(std::string thing, std::int64_t since_s) {
  things_.push_back(std::move(thing));
  // A server whose clock is far from ours gives no grace, rather than one of hours.
  lasts_ |= std::abs(env_.now_s() - since_s) >= grace_s;
}

void deletion_wait::add_pods(const std::vector<api::row>& pods) {
  may_be_abandoned_ |= !pods.empty();
  for (const auto& pod : pods) {
    const auto known = env_.caches.pods.find(pod.key);
    const auto node = known == nullptr || known->node.empty() ? std::string("no node") : "node " + known->node;
    if (!pod.deleting) {
      add(fmt::format("pod {} on {}, which is not being deleted yet", pod.key.name, node), of_.deleted_s);
    } else if (env_.now_s() < pod.deleted_s) {
      things_.push_back(fmt::format("pod {} on {}, which is ending", pod.key.name, node));
    } else {
      add(fmt::format(
              "pod {} on {}, which should have ended (finalizers: {}); if the node is lost for good, delete the "
              "Node",
              pod.key.name, node, pod.finalizers.empty() ? "none" : fmt::to_string(fmt::join(pod.finalizers, " "))),
          pod.deleted_s);
    }
  }
}

void deletion_wait::add_claims(const std::vector<api::claim>& claims) {
  may_be_abandoned_ |= !claims.empty();
  for (const auto& claim : claims)
    add(fmt::format("volume claim {} (finalizers: {})", claim.key.name,
                    claim.finalizers.empty() ? "none" : fmt::to_string(fmt::join(claim.finalizers, " "))),
        of_.deleted_s);
}

void deletion_wait::add_set(const object_key& set) {
  may_be_abandoned_ = true;
  add(fmt::format("StatefulSet {}", set.name), of_.deleted_s);
}

void deletion_wait::add_foreign_finalizers(std::string_view ours) {
  for (const auto& one : of_.finalizers) {
    if (one != ours) add(fmt::format("finalizer {}, which whoever set it has to take back", one), of_.deleted_s);
  }
}

io::duration deletion_wait::until_it_lasts() const {
  const auto passed = std::abs(env_.now_s() - of_.deleted_s);
  return std::chrono::seconds(passed < grace_s ? grace_s - passed : 0);
}

std::string deletion_wait::words() const {
  return fmt::format(
      "the deletion waits for {}{}", fmt::join(things_, "; "),
      may_be_abandoned_ ? ". To let this object go as things are, set the annotation braidmq.io/abandon" : "");
}

status write_deletion_wait(environment& env, const k8s::resource_type& type, const api::row& row,
                           std::uint64_t old_hash, const api::condition_list& old_conditions, json status,
                           const deletion_wait& wait) {
  constexpr std::string_view reason = "DeletionWaits";
  conditions list(old_conditions, row.generation, env.now_s());
  const auto words = wait.words();
  list.no("Ready", reason, words);
  list.yes("Reconciling", reason, words);
  if (wait.lasts())
    list.yes("Stalled", reason, words);
  else
    list.no("Stalled", "NoProblem", "nothing is in the way");
  const auto* stalled = api::find(old_conditions, "Stalled");
  const bool told = stalled != nullptr && stalled->status == api::condition_status::yes && stalled->reason == reason;
  if (wait.lasts() && !told)
    env.events.record(reference(type, row), k8s::event_type::warning, std::string(reason), "Delete", words);
  status["observedGeneration"] = row.generation;
  status["conditions"] = api::to_json(list.list());
  return just_status(write_status(env, type, row, old_hash, old_conditions, status));
}

}  // namespace braidmq::reconcile
