#include "k8s/election.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "k8s/errc.hpp"
#include "k8s/time.hpp"

namespace braidmq::k8s {
namespace {

const resource_type leases{"coordination.k8s.io", "v1", "Lease", "leases"};
constexpr const char* field_manager = "braidmq-leader-election";

std::string text_at(const json& object, std::initializer_list<std::string_view> path) {
  const json* value = find(object, path);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

std::int64_t number_at(const json& object, std::initializer_list<std::string_view> path) {
  const json* value = find(object, path);
  return value != nullptr && value->is_number_integer() ? value->get<std::int64_t>() : 0;
}

}  // namespace

status validate(const election_options& options) {
  if (options.lease.name.empty() || options.lease.namespace_name.empty() || options.identity.empty()) {
    return fail(errc::config, "leader election needs a Lease's namespace and name, and an identity");
  }
  if (options.lease_duration <= options.renew_deadline) {
    return fail(errc::config, "the lease duration must be longer than the renew deadline");
  }
  // A wait is at most 2.2 periods (jitter 1.2).
  if (options.retry_period <= io::duration{} || options.renew_deadline <= options.retry_period * 22 / 10) {
    return fail(errc::config, "the renew deadline must be longer than 2.2 retry periods");
  }
  return {};
}

election::election(client& api, election_options options, const io::clock& clock, io::random_source& random)
    : api_(api), options_(std::move(options)), clock_(clock), random_(random) {}

result<election::record> election::read(const json& lease) {
  record r;
  r.holder = text_at(lease, {"spec", "holderIdentity"});
  r.resource_version = resource_version_of(lease);
  r.duration = std::chrono::seconds(number_at(lease, {"spec", "leaseDurationSeconds"}));
  r.transitions = number_at(lease, {"spec", "leaseTransitions"});
  r.acquired = text_at(lease, {"spec", "acquireTime"});
  if (r.resource_version.empty()) return fail(errc::bad_response, "a Lease without a resource version");
  return r;
}

void election::observe(const record& seen) {
  if (!seen_ || seen_->resource_version != seen.resource_version) seen_at_ = clock_.now();
  seen_ = seen;
  std::lock_guard lock(mutex_);
  holder_ = seen.holder;
}

bool election::is_free() const {
  return seen_->holder.empty() || clock_.now() - seen_at_ >= std::max<io::duration>(seen_->duration, io::duration(1));
}

result<json> election::write(const record& over, const std::string& holder, std::chrono::seconds duration) {
  const std::string now = format_micro_time(clock_.wall_ms());
  json spec = {{"holderIdentity", holder},
               {"leaseDurationSeconds", duration.count()},
               {"renewTime", now},
               {"leaseTransitions", over.transitions}};
  const bool takes_over = over.holder != options_.identity;
  spec["acquireTime"] = takes_over || over.acquired.empty() ? now : over.acquired;
  if (takes_over && !over.resource_version.empty()) spec["leaseTransitions"] = over.transitions + 1;
  if (over.resource_version.empty()) {
    return api_.create(leases,
                       {{"apiVersion", leases.api_version()},
                        {"kind", leases.kind},
                        {"metadata", {{"name", options_.lease.name}, {"namespace", options_.lease.namespace_name}}},
                        {"spec", spec}},
                       field_manager);
  }
  return api_.json_patch(leases, options_.lease,
                         {{{"op", "test"}, {"path", "/metadata/resourceVersion"}, {"value", over.resource_version}},
                          {{"op", "add"}, {"path", "/spec"}, {"value", spec}}});
}

bool election::try_get_or_renew() {
  // Before the request: the server may have taken it at any time since.
  const auto asked_at = clock_.now();
  const auto note = [this](const error& why) {
    std::lock_guard lock(mutex_);
    last_error_ = why.to_string();
    return false;
  };
  record current;
  if (const auto got = api_.get(leases, options_.lease)) {
    auto read_record = read(*got);
    if (!read_record) return note(read_record.error());
    current = std::move(*read_record);
    observe(current);
    if (current.holder != options_.identity) {
      lose();  // whatever our clock says: it is another's now
      if (!is_free()) return false;
    }
  } else if (got.error().code != errc::not_found) {
    return note(got.error());
  }
  const auto written = write(current, options_.identity, options_.lease_duration);
  if (!written) return note(written.error());
  const auto stored = read(*written);
  if (!stored) return note(stored.error());
  observe(*stored);
  std::lock_guard lock(mutex_);
  until_ = asked_at + options_.renew_deadline;
  last_error_.clear();
  return true;
}

io::duration election::step() {
  const bool held = is_leader();
  const bool holds = try_get_or_renew();
  if (held || holds) return options_.retry_period;
  const auto spread = static_cast<std::uint64_t>(options_.retry_period.count() * 12 / 10);
  return options_.retry_period + io::duration(random_.next_u64() % (spread + 1));
}

void election::lose() {
  std::lock_guard lock(mutex_);
  until_.reset();
}

bool election::is_leader() const {
  std::lock_guard lock(mutex_);
  return until_ && clock_.now() < *until_;
}

std::optional<io::time_point> election::lead_until() const {
  std::lock_guard lock(mutex_);
  return until_;
}

void election::release() {
  if (!is_leader() || !seen_) return;
  (void)write(*seen_, "", std::chrono::seconds(1));
  lose();
}

std::string election::holder() const {
  std::lock_guard lock(mutex_);
  return holder_;
}

std::string election::last_error() const {
  std::lock_guard lock(mutex_);
  return last_error_;
}

}  // namespace braidmq::k8s
