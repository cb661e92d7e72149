#include "operator_app/process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "operator_app/crd_check.hpp"
#include "operator_app/initial_objects.hpp"
#include "reconcile/environment.hpp"

namespace braidmq::operator_app {
namespace {

constexpr auto initial_interval = std::chrono::seconds(30);
constexpr auto initial_retry = std::chrono::seconds(2);
constexpr auto crds_interval = std::chrono::minutes(1);
constexpr auto duties_interval = std::chrono::milliseconds(100);
// At the end of the process: for what is under way, and then for calls of brokers, which nothing else cuts short.
constexpr auto stop_grace = std::chrono::seconds(2);
constexpr auto stop_patience = std::chrono::seconds(4);

result<k8s::client_config> find_server(const options& given) {
  if (!given.kubeconfig.empty()) return k8s::kubeconfig(given.kubeconfig);
  return k8s::load_config(k8s::process_environment());
}

// Nothing may be written any more: not even a destructor gets the chance.
void lost_the_lease(const std::string& why) {
  spdlog::critical("lost the Lease: {}; ending at once", why);
  spdlog::default_logger()->flush();
  _exit(1);
}

}  // namespace

result<std::unique_ptr<process>> process::start(const options& given) {
  std::unique_ptr<process> made(new process(given));
  BRAID_TRY_VOID(made->connect());
  BRAID_TRY_VOID(made->open_http());
  for (const auto& unit : made->units_) unit->start_watching();
  made->events_->start();
  BRAID_TRY_VOID(made->begin_election());
  made->duties_ = std::thread([raw = made.get()]() noexcept {  // tidy: allow(thread)
    while (!raw->stopping_.raised()) {
      raw->run_duties();
      static_cast<void>(raw->stopping_.wait_for(duties_interval));
    }
  });
  return made;
}

process::~process() {
  stop();
}

status process::connect() {
  BRAID_TRY(config, find_server(options_));
  const auto agent = fmt::format("braid-operator/{}", BRAID_VERSION);
  const auto may_write = [this] { return may_lead(); };
  client_ = std::make_unique<k8s::http_client>(
      config, k8s::http_client_options{
                  .user_agent = agent, .may_write = may_write, .field_manager = std::string(reconcile::field_manager)});
  election_client_ = std::make_unique<k8s::http_client>(
      config, k8s::http_client_options{.deadline = options_.renew_deadline * 3 / 10, .user_agent = agent});
  events_ = std::make_unique<k8s::event_writer>(
      *client_, k8s::event_writer_options{.controller = "braidmq.io/operator", .instance = options_.instance});
  auto namespaces = options_.namespaces;
  if (namespaces.empty()) namespaces.emplace_back();
  for (auto& name : namespaces) {
    // Outside of a pod nobody said which namespace is its own.
    const bool own = name.empty() && !options_.namespaces.empty();
    units_.push_back(
        std::make_unique<unit>(*client_, *events_, options_, own ? config.namespace_name : name, may_write));
  }
  spdlog::info("API server {}:{}, {}", config.host, config.port,
               options_.namespaces.empty() ? std::string("all namespaces")
                                           : fmt::format("namespaces {}", fmt::join(options_.namespaces, ", ")));
  return {};
}

status process::open_http() {
  BRAID_TRY(server, health_server::start({.listen = options_.http,
                                          .not_healthy = [this] { return not_healthy(); },
                                          .not_ready = [this] { return not_ready(); },
                                          .metrics = [this] { return render_metrics(sources()); }}));
  http_ = std::move(server);
  return {};
}

status process::begin_election() {
  if (!options_.elect) {
    leading_ = true;
    return {};
  }
  k8s::election_options election;
  election.lease = {options_.lease_namespace.empty() ? client_->config().namespace_name : options_.lease_namespace,
                    options_.lease_name};
  // A name is used again by a pod of the same name; the number is not.
  election.identity = fmt::format("{}_{}", options_.instance, io::system_random().next_uuid().to_string());
  election.lease_duration = options_.lease_duration;
  election.renew_deadline = options_.renew_deadline;
  election.retry_period = options_.retry_period;
  BRAID_TRY(elector, k8s::leader_elector::start(*election_client_, election,
                                                {.on_started =
                                                     [this] {
                                                       spdlog::info("leading");
                                                       leading_ = true;
                                                     },
                                                 .on_lost = lost_the_lease}));
  elector_ = std::move(elector);
  lead_ = elector_.get();
  return {};
}

bool process::may_lead() const {
  const auto* elector = lead_.load();
  return !options_.elect || (elector != nullptr && elector->may_write());
}

void process::run_duties() {
  if (!leading_) return;
  begin_to_work();
  apply_initial();
  if (working_) check_crds();
}

void process::begin_to_work() {
  if (working_) return;
  const auto missing = not_ready();
  if (!missing.empty()) {
    const auto words = fmt::format("{}", fmt::join(missing, "; "));
    if (words != said_) spdlog::info("waits before it works: {}", words);
    said_ = words;
    return;
  }
  for (const auto& unit : units_) unit->start_working();
  working_ = true;
  spdlog::info("working");
}

void process::apply_initial() {
  const auto now = io::system_clock().now();
  if (options_.initial_objects.empty() || now < initial_at_) return;
  const auto own = options_.own_namespace.empty() ? client_->config().namespace_name : options_.own_namespace;
  const auto written = apply_initial_objects(*client_, {own, options_.initial_objects});
  initial_at_ = now + (written ? io::duration(initial_interval) : io::duration(initial_retry));
  if (!written)
    spdlog::warn("initial objects of ConfigMap {}: {}", options_.initial_objects, written.error().to_string());
  else if (*written > 0)
    spdlog::info("applied {} initial objects", *written);
}

void process::check_crds() {
  const auto now = io::system_clock().now();
  if (now < crds_at_) return;
  crds_at_ = now + crds_interval;
  const auto outdated = crds_are_outdated(*client_);
  if (!outdated) return;
  if (*outdated) spdlog::warn("CRDsOutdated: the kinds on the server are older than this operator; upgrade them");
  for (const auto& unit : units_) unit->set_crds_outdated(*outdated);
}

std::vector<std::string> process::not_ready() const {
  std::vector<std::string> all;
  for (const auto& unit : units_) {
    for (auto& one : unit->not_synced()) all.push_back(std::move(one));
  }
  return all;
}

std::vector<std::string> process::not_healthy() const {
  std::vector<std::string> all;
  for (const auto& unit : units_) {
    for (auto& one : unit->stuck()) all.push_back(std::move(one));
  }
  return all;
}

metric_sources process::sources() const {
  metric_sources from;
  for (const auto& unit : units_) from.units.push_back(unit.get());
  from.clients = {client_.get(), election_client_.get()};
  from.events = events_.get();
  from.leading = leading_;
  return from;
}

void process::stop() {
  if (std::exchange(stopped_, true)) return;
  stopping_.raise();
  if (elector_) elector_->begin_stop();
  for (const auto& unit : units_) unit->begin_stop();
  k8s::stop_signal ended;
  std::thread impatience([&] {  // tidy: allow(thread): the others are being waited for
    if (!ended.wait_for(stop_grace)) return;
    spdlog::warn("ends the calls that are under way");
    if (client_) client_->shut_down();
    if (!ended.wait_for(stop_patience)) return;
    spdlog::warn("a call does not end: left as it is");
    if (elector_) elector_->stop();
    spdlog::default_logger()->flush();
    _exit(EXIT_SUCCESS);
  });
  if (duties_.joinable()) duties_.join();
  for (const auto& unit : units_) unit->stop();
  if (events_) events_->stop();  // while they may be written
  ended.raise();
  impatience.join();
  if (elector_) elector_->stop();
  http_.reset();
}

}  // namespace braidmq::operator_app
