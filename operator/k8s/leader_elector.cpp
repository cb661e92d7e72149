#include "k8s/leader_elector.hpp"

#include <algorithm>

namespace braidmq::k8s {
namespace {

using namespace std::chrono_literals;

}  // namespace

result<std::unique_ptr<leader_elector>> leader_elector::start(client& api, election_options options, callbacks on,
                                                              const io::clock& clock) {
  BRAID_TRY_VOID(validate(options));
  return std::unique_ptr<leader_elector>(new leader_elector(api, std::move(options), std::move(on), clock));
}

leader_elector::leader_elector(client& api, election_options options, callbacks on, const io::clock& clock)
    : on_(std::move(on)),
      clock_(clock),
      check_period_(std::min<io::duration>(100ms, options.renew_deadline / 20)),
      election_(api, std::move(options), clock) {
  renewer_ = std::thread([this]() noexcept { try_and_renew(); });     // tidy: allow(thread)
  guardian_ = std::thread([this]() noexcept { watch_the_clock(); });  // tidy: allow(thread)
}

leader_elector::~leader_elector() {
  stop();
}

void leader_elector::try_and_renew() {
  do {
    const io::duration wait = election_.step();
    if (!started_.raised() && election_.is_leader()) {
      started_.raise();
      if (on_.on_started) on_.on_started();
    }
    // Once lost, this process does not lead again.
    if (lost_ > 0 || !stop_.wait_for(wait)) break;
  } while (!stop_.raised());
}

void leader_elector::watch_the_clock() {
  while (!stop_.raised() && !started_.raised()) (void)started_.wait_for(check_period_);
  while (!stop_.raised()) {
    if (!election_.is_leader()) {
      const std::string holder = election_.holder(), why = election_.last_error();
      tell_lost(why.empty() ? "the Lease is held by \"" + holder + "\"" : "not renewed in time: " + why);
      return;
    }
    const auto until = election_.lead_until();
    const io::duration left = until ? *until - clock_.now() : io::duration{};
    (void)stop_.wait_for(std::clamp<io::duration>(left, 1ms, check_period_));
  }
}

void leader_elector::tell_lost(const std::string& why) {
  std::call_once(lost_once_, [&] {
    ++lost_;
    if (on_.on_lost) on_.on_lost(why);
  });
}

void leader_elector::stop() {
  stop_.raise();
  if (guardian_.joinable()) guardian_.join();
  if (!renewer_.joinable()) return;
  renewer_.join();
  if (lost_ == 0) election_.release();
}

election_figures leader_elector::read_figures() const {
  return {election_.is_leader() && lost_ == 0, lost_, election_.holder(), election_.last_error()};
}

}  // namespace braidmq::k8s
