// Who this member says that it is: the founding of the cluster in its log, the claim of its id, its registration.
#include <utility>

#include "metadata/controller.hpp"

namespace braidmq::metadata {
namespace {

constexpr io::duration patience = std::chrono::seconds(30);

}  // namespace

void controller::set_listeners(std::vector<advertised_listener> fixed, std::vector<std::string> pushed) {
  fixed_listeners_ = std::move(fixed);
  pushed_listeners_ = std::move(pushed);
}

void controller::change_registration(unique_function<void(broker_registration&)> change, io::duration timeout,
                                     unique_function<void(status)> done) {
  owner_.post(
      [this, alive = std::weak_ptr(alive_), change = std::move(change), timeout, done = std::move(done)]() mutable {
        if (alive.expired()) return;
        std::optional<broker_registration> next = latest_registration();
        if (!next)
          return done(fail(errc::not_controller, fmt::format("broker {} is not registered yet", options_.broker)));
        const broker_registration before = *next;
        change(*next);
        if (*next == before && !proposed_registration_) return done({});
        const std::uint64_t id = propose(register_broker{options_.broker, *next}, timeout,
                                         [done = std::move(done)](result<outcome> applied) mutable {
                                           if (!applied) return done(tl::unexpected(applied.error()));
                                           if (applied->error) return done(fail(applied->error));
                                           done({});
                                         });
        if (changes_.contains(id)) proposed_registration_.emplace(id, std::move(*next));
      });
}

std::optional<broker_registration> controller::latest_registration() const {
  const image& now = *machine_.current();
  const auto claimed = now.brokers().find(options_.broker);
  if (claimed == now.brokers().end() || claimed->second.incarnation != options_.incarnation) return std::nullopt;
  return proposed_registration_ ? proposed_registration_->second : claimed->second;
}

// The first leader founds the cluster, once.
void controller::settle_identity() {
  if (stopped_) return;
  if (group_->node().serves() && !founding_proposed_ && machine_.current()->cluster_id().is_zero()) {
    if (!options_.may_found) {
      return on_fatal_({make_error_code(errc::not_founded),
                        "braid.bootstrap is existing, and the metadata log of this broker names no cluster: it has "
                        "never belonged to one; start it with braid.bootstrap=initial if it is to found one"});
    }
    founding_proposed_ = true;
    propose(found_cluster{options_.cluster_id}, patience, [this](const result<outcome>& applied) {
      if (!applied) founding_proposed_ = false;
    });
  }
  register_itself();
}

// Each member claims its id. What a broker says of itself is said anew when it starts: it is not draining any more, and
// its addresses may have changed.
void controller::register_itself() {
  if (registered_ || !is_current()) return;
  registered_ = true;
  const image& now = *machine_.current();
  broker_registration wanted{options_.incarnation, false, fixed_listeners_};
  wanted.rack = options_.rack;
  const auto claimed = now.brokers().find(options_.broker);
  if (claimed != now.brokers().end()) {
    if (claimed->second.incarnation != options_.incarnation) return;  // whoever reads the image refuses to serve
    for (const std::string& name : pushed_listeners_) {
      if (const advertised_listener* known = claimed->second.find(name)) wanted.listeners.push_back(*known);
    }
    if (claimed->second == wanted) return;
  }
  // Changes that are asked for before it is applied build on it.
  const std::uint64_t id =
      propose(register_broker{options_.broker, wanted}, patience, [this](const result<outcome>& applied) {
        if (applied || stopped_) return;
        registered_ = false;
        register_itself();
      });
  if (changes_.contains(id)) proposed_registration_.emplace(id, std::move(wanted));
}

}  // namespace braidmq::metadata
