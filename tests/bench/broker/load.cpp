#include "bench/broker/load.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>

#include <poll.h>

#include "bench/broker/produce_frame.hpp"

namespace braidmq::bench {
namespace {

constexpr int longest_silence_ms = 30'000;

}  // namespace

result<std::unique_ptr<load>> load::open(const io::endpoint& to, std::size_t connections, std::size_t in_flight) {
  std::unique_ptr<load> made(new load(in_flight));
  made->connections_.reserve(connections);
  for (std::size_t i = 0; i < connections; ++i) {
    BRAID_TRY(stream, frame_stream::connect(to));
    made->connections_.push_back({std::move(stream), {}});
  }
  return made;
}

status load::send_next(connection& on, const frame_source& next) {
  last_correlation_id_ =
      last_correlation_id_ == std::numeric_limits<std::int32_t>::max() ? 1 : last_correlation_id_ + 1;
  const byte_view frame = next(requests_);
  on.under_way.push_back({last_correlation_id_, requests_++, io::system_clock().now()});
  return on.stream.send(frame, last_correlation_id_);
}

status load::receive(connection& on, const frame_source& next, const std::function<go(const ack&)>& on_ack, go& how) {
  std::size_t answers = 0;
  BRAID_TRY_VOID(on.stream.receive([&](byte_view frame) -> status {
    const io::time_point now = io::system_clock().now();
    if (on.under_way.empty()) return fail(std::make_error_code(std::errc::bad_message), "an answer to nothing");
    const waiting first = on.under_way.front();
    on.under_way.pop_front();
    ++answers;
    BRAID_TRY_VOID(check_produce_answer(frame, first.correlation_id));
    if (how == go::abandon) return {};
    const go wanted = on_ack({first.request, first.sent, now});
    how = std::max(how, wanted);
    return {};
  }));
  for (; answers > 0 && how == go::on; --answers) BRAID_TRY_VOID(send_next(on, next));
  return {};
}

status load::run(const frame_source& next, const std::function<go(const ack&)>& on_ack) {
  for (connection& one : connections_) {
    while (one.under_way.size() < in_flight_) BRAID_TRY_VOID(send_next(one, next));
  }
  go how = go::on;
  std::vector<pollfd> watched(connections_.size());
  while (true) {
    std::size_t under_way = 0;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      const bool unsent = connections_[i].stream.has_unsent();
      watched[i] = {connections_[i].stream.descriptor(), static_cast<short>(unsent ? POLLIN | POLLOUT : POLLIN), 0};
      under_way += connections_[i].under_way.size();
    }
    if (under_way == 0) return {};
    const int ready = ::poll(watched.data(), watched.size(), longest_silence_ms);
    if (ready == 0) return fail(std::make_error_code(std::errc::timed_out), "no answer for half a minute");
    if (ready < 0 && errno != EINTR) return fail(std::error_code(errno, std::generic_category()), "poll");
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if ((watched[i].revents & POLLOUT) != 0) BRAID_TRY_VOID(connections_[i].stream.flush());
      if ((watched[i].revents & ~POLLOUT) == 0) continue;
      BRAID_TRY_VOID(receive(connections_[i], next, on_ack, how));
      if (how == go::abandon) return {};
    }
  }
}

}  // namespace braidmq::bench
