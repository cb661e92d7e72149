#include "reconcile/pod_problem.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "k8s/list_page.hpp"

namespace braidmq::reconcile {
namespace {

constexpr std::array image_reasons = {std::string_view("ImagePullBackOff"), std::string_view("ErrImagePull"),
                                      std::string_view("InvalidImageName"), std::string_view("ErrImageNeverPull"),
                                      std::string_view("ImageInspectError")};
constexpr std::array create_reasons = {std::string_view("CreateContainerConfigError"),
                                       std::string_view("CreateContainerError"), std::string_view("RunContainerError")};

bool is_one_of(std::string_view reason, const auto& list) {
  return std::ranges::find(list, reason) != list.end();
}

// The end of a log says more than its beginning.
std::string last_words(std::string_view text) {
  constexpr std::size_t max = 600;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  if (text.size() <= max) return std::string(text);
  auto cut = text.substr(text.size() - max);
  if (const auto line = cut.find('\n'); line != std::string_view::npos && line + 1 < cut.size())
    cut.remove_prefix(line + 1);
  while (!cut.empty() && (static_cast<unsigned char>(cut.front()) & 0xc0U) == 0x80) cut.remove_prefix(1);
  return "..." + std::string(cut);
}

problem crash(const api::pod& pod) {
  const auto& broker = pod.broker;
  auto text = fmt::format("the broker of pod {} ended {} times, last with exit code {}", pod.key.name, broker.restarts,
                          broker.last_exit_code);
  if (!broker.last_reason.empty()) text += fmt::format(" ({})", broker.last_reason);
  if (!broker.last_message.empty()) text += ": " + last_words(broker.last_message);
  return {"CrashLoop", std::move(text)};
}

// The newest warning about an object, from the events of its namespace.
result<std::string> last_warning(environment& env, const std::string& namespace_name, const std::string& uid) {
  const k8s::list_options options{.namespace_name = namespace_name,
                                  .field_selector = fmt::format("involvedObject.uid={},type=Warning", uid),
                                  .limit = 100};
  const auto page = env.api.list(api::core_event_type, options);
  if (!page) return tl::unexpected(page.error());
  std::string newest;
  std::string words;
  for (const auto& item : page->items) {
    std::vector<std::string> problems;
    const api::reader event(&item, "", problems);
    auto time = event.text("lastTimestamp", event.text("eventTime"));
    if (words.empty() || time >= newest) {  // RFC 3339 of one zone sorts as text
      newest = std::move(time);
      words = event.text("message");
    }
  }
  return words;
}

struct claim_facts {
  bool bound = false;
  std::string storage_class;
  std::string uid;
};

claim_facts read_claim(const json& object) {
  std::vector<std::string> problems;
  const api::reader claim(&object, "", problems);
  return {claim.object("status").text("phase") == "Bound", claim.object("spec").text("storageClassName"),
          claim.object("metadata").text("uid")};
}

problem claim_problem(const std::string& name, const claim_facts& claim, const std::string& words) {
  const auto names_class =
      words.find("storageclass") != std::string::npos && words.find("not found") != std::string::npos;
  if (names_class) {
    return {
        "StorageClassMissing",
        fmt::format("volume claim {} waits: {}. Create StorageClass \"{}\", or delete the BraidPool and the claim and "
                    "apply the pool again with another storageClassName",
                    name, words, claim.storage_class)};
  }
  if (claim.storage_class.empty()) {
    return {
        "StorageClassMissing",
        fmt::format("volume claim {} waits: {}. Set spec.storage.storageClassName of the BraidPool (delete it and the "
                    "claim and apply it again), or make one StorageClass the default",
                    name, words.empty() ? "there is no default StorageClass" : words)};
  }
  return {"VolumePending", fmt::format("volume claim {} of StorageClass \"{}\" waits for a volume{}{}", name,
                                       claim.storage_class, words.empty() ? "" : ": ", words)};
}

// A pod that the scheduler refuses because of a claim: say which, and why.
std::optional<problem> waiting_claim(environment& env, const api::pod& pod) {
  for (const auto& name : pod.claims) {
    const auto object = env.api.get(api::claim_type, {pod.key.namespace_name, name});
    if (!object) continue;  // the scheduler's words must do
    const auto claim = read_claim(*object);
    if (claim.bound) continue;
    const auto words = last_warning(env, pod.key.namespace_name, claim.uid);
    const auto text = words ? *words : std::string();
    // A claim that waits for its first pod is not what keeps the pod.
    if (!text.empty() || claim.storage_class.empty()) return claim_problem(name, claim, text);
  }
  return std::nullopt;
}

// Nothing when a clock is far from ours: better told too early than hours late.
io::duration unscheduled_grace_left(const api::pod& pod, std::int64_t now_s) {
  constexpr std::int64_t unscheduled_grace_s = 10;
  if (pod.deleting || pod.scheduled || pod.unscheduled_s == 0) return {};
  const auto passed = std::abs(now_s - pod.unscheduled_s);
  return std::chrono::seconds(passed < unscheduled_grace_s ? unscheduled_grace_s - passed : 0);
}

}  // namespace

std::optional<io::duration> until_unscheduled_is_told(const std::vector<pod_ptr>& pods, std::int64_t now_s) {
  std::optional<io::duration> first;
  for (const auto& pod : pods) {
    const auto left = unscheduled_grace_left(*pod, now_s);
    if (left > io::duration{}) first = std::min(first.value_or(left), left);
  }
  return first;
}

std::optional<problem> pod_problem(const api::pod& pod, std::int64_t now_s) {
  const auto& broker = pod.broker;
  if (pod.deleting || pod.ready) return std::nullopt;
  if (!pod.scheduled) {
    if (pod.unscheduled_reason.empty()) return std::nullopt;  // not looked at yet
    if (unscheduled_grace_left(pod, now_s) > io::duration{}) return std::nullopt;
    return problem{pod.unscheduled_reason,
                   fmt::format("no node takes pod {}: {}", pod.key.name, pod.unscheduled_message)};
  }
  if (is_one_of(broker.waiting_reason, image_reasons)) {
    return problem{"ImageNotStarted",
                   fmt::format("pod {}: {} for image \"{}\": {}. Correct spec.image of the BraidCluster "
                               "or its imagePullSecrets",
                               pod.key.name, broker.waiting_reason, pod.image, broker.waiting_message)};
  }
  if (is_one_of(broker.waiting_reason, create_reasons))
    return problem{broker.waiting_reason, fmt::format("pod {}: {}", pod.key.name, broker.waiting_message)};
  if (broker.waiting_reason == "CrashLoopBackOff" || (!broker.running && broker.restarts >= 2)) return crash(pod);
  if (pod.phase == "Failed") return problem{"PodFailed", fmt::format("pod {} has failed", pod.key.name)};
  return std::nullopt;
}

bool is_broken(const api::pod& pod, std::int64_t now_s) {
  return !pod.deleting && !pod.broker.running && pod_problem(pod, now_s).has_value();
}

std::optional<problem> pool_problem(environment& env, const api::braid_pool& pool,
                                    const std::shared_ptr<const api::stateful_set>& set,
                                    const std::vector<pod_ptr>& pods) {
  for (const auto& pod : pods) {
    auto found = pod_problem(*pod, env.now_s());
    if (!found) continue;
    if (!pod->scheduled) {
      if (auto claim = waiting_claim(env, *pod)) return claim;
    }
    return found;
  }
  if (set == nullptr || !pods.empty() || set->observed_generation == 0) return std::nullopt;
  // The controller has seen the StatefulSet and there is no pod: a quota, or an admission that refuses it.
  const auto words = last_warning(env, pool.key.namespace_name, set->uid);
  if (!words || words->empty()) return std::nullopt;
  return problem{"PodRefused", *words};
}

}  // namespace braidmq::reconcile
