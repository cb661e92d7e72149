#include <algorithm>

#include <fmt/format.h>

#include "admin_client/errc.hpp"
#include "ctl/commands.hpp"
#include "ctl/output.hpp"

namespace braidmq::ctl {
namespace {

using admin_client::errc;
using std::chrono::milliseconds;

constexpr milliseconds step{2000};  // of waiting in one call, between two lines
constexpr milliseconds pause{500};  // between two calls

class drainer {
 public:
  drainer(context& with, milliseconds timeout) : with_(with), deadline_(with.now() + timeout) {}

  void run() {
    while (ask()) {
      if (left() <= milliseconds(0)) return say("the time is up; the broker stops as it is");
    }
  }

 private:
  milliseconds left() const { return std::chrono::ceil<milliseconds>(deadline_ - with_.now()); }

  // The same line is said once.
  void say(const std::string& line) {
    if (line == said_) return;
    with_.out << "drain: " << printable(line) << std::endl;
    said_ = line;
  }

  // One call; false when there is nothing more to wait for.
  bool ask() {
    const milliseconds wait = std::clamp(left(), milliseconds(1), step);
    auto client = with_.connect(std::clamp(left(), milliseconds(100), call_timeout));
    if (!client) return end(client.error().to_string());
    const auto said = (*client)->drain(wait);
    if (!said) return failed(said.error());
    if (!said->draining) return end("the broker did not begin to drain");
    if (said->last_broker) return end("this is the last broker: nobody could take over, nothing to wait for");
    if (said->leaderships == 0) return end("all leaderships are handed over");
    say(fmt::format("{} leaderships are still to be handed over", said->leaderships));
    with_.sleep(std::clamp(left(), milliseconds(0), pause));  // the broker has waited too, but need not have
    return true;
  }

  bool failed(const error& why) {
    if (why.code == errc::unreachable) return end("nobody answers on the admin port: nothing to drain");
    const bool ours = why.code.category() == admin_client::make_error_code(errc::refused).category();
    if (!ours || !admin_client::is_transient(static_cast<errc>(why.code.value()))) return end(why.to_string());
    say(why.to_string() + "; trying again");
    with_.sleep(std::clamp(left(), milliseconds(0), pause));
    return true;
  }

  bool end(const std::string& line) {
    say(line);
    return false;
  }

  context& with_;
  io::time_point deadline_;
  std::string said_;
};

}  // namespace

int drain(context& with, milliseconds timeout) {
  drainer(with, timeout).run();
  return exit_good;
}

}  // namespace braidmq::ctl
