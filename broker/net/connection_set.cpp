#include "net/connection_set.hpp"

#include <utility>
#include <vector>

namespace braidmq::net {

connection_set::connection_set(connection_context context, std::string listener, const connection_limits& limits,
                               frame_handler& handler, std::shared_ptr<connection_limiter> limiter,
                               ended_callback on_ended)
    : context_(context),
      listener_(std::move(listener)),
      limits_(limits),
      handler_(handler),
      limiter_(std::move(limiter)),
      on_ended_(std::move(on_ended)) {}

connection_set::~connection_set() {
  on_drained_ = nullptr;
  close_all("this broker stops");
  context_.timers.cancel(drain_timer_);
}

void connection_set::add(std::unique_ptr<io::stream> stream) {
  auto info = std::make_shared<connection_info>();
  info->id = limiter_->next_id();
  info->remote = stream->remote();
  info->listener = listener_;
  if (draining_) return refuse(*stream, *info, close_cause::stopped);
  if (const auto cause = limiter_->enter(ip_of(info->remote))) return refuse(*stream, *info, *cause);
  auto added = std::make_shared<connection>(context_, std::move(stream), info, limits_, handler_,
                                            [this](const connection_info& ended, close_cause cause,
                                                   const std::string& reason) { on_closed(ended, cause, reason); });
  connections_.emplace(info->id, added);
  added->start();
}

void connection_set::refuse(io::stream& stream, const connection_info& info, close_cause cause) {
  stream.close();
  ++ended_[cause];
  if (on_ended_) on_ended_(info, cause, draining_ ? "this broker stops" : "too many connections");
}

void connection_set::on_closed(const connection_info& info, close_cause cause, const std::string& reason) {
  ++ended_[cause];
  limiter_->leave(ip_of(info.remote));
  if (on_ended_) on_ended_(info, cause, reason);
  connections_.erase(info.id);
  if (draining_ && connections_.empty()) finish_drain();
}

void connection_set::drain(io::duration deadline, unique_function<void()> done) {
  draining_ = true;
  on_drained_ = std::move(done);
  std::vector<std::shared_ptr<connection>> all;
  for (const auto& [id, one] : connections_) all.push_back(one);
  for (const auto& one : all) one->drain();
  if (connections_.empty()) return finish_drain();
  drain_timer_ = context_.timers.schedule(deadline, [this] {
    drain_timer_ = io::timer_id{0};
    close_all("this broker stops and cannot wait for the answers any longer");
  });
}

void connection_set::close_all(const std::string& reason) {
  std::vector<std::shared_ptr<connection>> all;
  for (const auto& [id, one] : connections_) all.push_back(one);
  for (const auto& one : all) one->close(close_cause::stopped, reason);
}

void connection_set::finish_drain() {
  context_.timers.cancel(std::exchange(drain_timer_, io::timer_id{0}));
  if (on_drained_) std::exchange(on_drained_, nullptr)();
}

std::size_t connection_set::inflight_bytes() const {
  std::size_t sum = 0;
  for (const auto& [id, one] : connections_) sum += one->inflight_bytes();
  return sum;
}

}  // namespace braidmq::net
