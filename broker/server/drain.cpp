#include "server/drain.hpp"

#include <algorithm>
#include <utility>

namespace braidmq::server {

namespace {

constexpr io::duration registration_patience = std::chrono::seconds(5);

}  // namespace

void drain::begin(io::duration timeout, unique_function<void(result<drain_state>)> done) {
  draining_ = true;
  controller_.change_registration(
      [](metadata::broker_registration& own) { own.draining = true; }, registration_patience,
      [this, timeout, done = std::move(done)](status written) mutable {
        auto answer = [this, written = std::move(written), done = std::move(done)]() mutable {
          // Where nobody could take over, nobody needs to be told either: without a majority nothing can be written.
          const bool matters = transfer_ == nullptr || !state().last_broker;
          if (!written && matters) return done(tl::unexpected(std::move(written).error()));
          done(state());
        };
        if (transfer_ == nullptr || state().last_broker) return answer();
        transfer_->hand_over(timeout, std::move(answer));
      });
}

drain_state drain::state() const {
  const metadata::image_ptr image = controller_.current();
  const bool others = std::ranges::any_of(image->brokers(), [this](const auto& one) {
    return one.first != self_ && !one.second.draining && is_alive_(one.first);
  });
  return {draining_, !others, transfer_ == nullptr || !others ? 0 : transfer_->held()};
}

}  // namespace braidmq::server
