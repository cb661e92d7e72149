#include "server/metadata_forwarding.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "metadata/errc.hpp"
#include "peer/frame.hpp"
#include "protocol/generated/peer_metadata.hpp"

namespace braidmq::server {
namespace {

constexpr std::size_t overhead_bytes = 64;

result<metadata::proposed> outcome_of(const protocol::peer_proposed& answer) {
  if (answer.error != 0) {
    const auto code = static_cast<metadata::errc>(answer.error);
    return fail(code == metadata::errc::not_controller || code == metadata::errc::stopped
                    ? metadata::errc::not_controller
                    : code,
                fmt::format("the leader says: {}", answer.words));
  }
  if (answer.index <= 0 || answer.term <= 0) return fail(metadata::errc::timed_out, "the leader's answer says nothing");
  return metadata::proposed{raft::index(static_cast<std::uint64_t>(answer.index)),
                            raft::term(static_cast<std::uint64_t>(answer.term))};
}

}  // namespace

metadata_forwarding::metadata_forwarding(peer::mesh& mesh, io::executor& owner, io::timer_service& timers)
    : mesh_(mesh), owner_(owner), timers_(timers) {
  mesh_.listen(peer::frame_kind::metadata_proposed,
               [this](const peer::acquaintance& from, const bytes& frame) { on_proposed(from, frame); });
}

metadata_forwarding::~metadata_forwarding() {
  for (const auto& [id, one] : waiting_) timers_.cancel(one.timer);
}

void metadata_forwarding::listen(take_proposal take) {
  take_ = std::move(take);
  mesh_.listen(peer::frame_kind::metadata_proposal,
               [this](const peer::acquaintance& from, const bytes& frame) { on_proposal(from, frame); });
}

void metadata_forwarding::propose(const raft::node_id& leader, bytes command, io::duration timeout,
                                  unique_function<void(result<metadata::proposed>)> done) {
  const std::size_t size = command.size() + overhead_bytes;
  const bool fits = waiting_.size() < max_waiting && waiting_bytes_ + size <= max_waiting_bytes;
  protocol::peer_proposal record;
  record.id = static_cast<std::int64_t>(++last_id_);
  record.command = std::move(command);
  // Another life of that broker is another voter, and leads nothing that is known here.
  const bool is_there = mesh_.status_of(model::broker_id(leader.broker)).incarnation == leader.incarnation;
  if (!fits || !is_there ||
      !mesh_.send(model::broker_id(leader.broker), frame_of(peer::frame_kind::metadata_proposal, record, size))) {
    owner_.post([fits, leader, done = std::move(done)]() mutable {
      done(fail(metadata::errc::not_controller,
                fits ? fmt::format("broker {}, which leads the metadata quorum, cannot be reached", leader.broker)
                     : std::string("too many changes wait for the leader of the metadata quorum")));
    });
    return;
  }
  waiting_bytes_ += size;
  const io::timer_id timer = timers_.schedule(
      timeout, [this, id = last_id_] { finish(id, fail(metadata::errc::timed_out, "the leader did not answer")); });
  waiting_.emplace(last_id_, waiting{leader, size, timer, std::move(done)});
}

void metadata_forwarding::gone(model::broker_id broker) {
  std::vector<std::uint64_t> lost;
  for (const auto& [id, one] : waiting_) {
    if (one.leader.broker == broker.value()) lost.push_back(id);
  }
  for (const std::uint64_t id : lost) finish(id, fail(metadata::errc::timed_out, "the connection to the leader ended"));
}

void metadata_forwarding::finish(std::uint64_t id, result<metadata::proposed> outcome) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  waiting one = std::move(found->second);
  waiting_.erase(found);
  waiting_bytes_ -= one.bytes;
  timers_.cancel(one.timer);
  // Never inside of the mesh's call: `done` may send.
  owner_.post([done = std::move(one.done), outcome = std::move(outcome)]() mutable { done(std::move(outcome)); });
}

void metadata_forwarding::on_proposed(const peer::acquaintance& from, const bytes& frame) {
  const auto answer = peer::record_in<protocol::peer_proposed>(frame);
  if (!answer) return;
  const auto id = static_cast<std::uint64_t>(answer->id);
  const auto found = waiting_.find(id);
  const raft::node_id sender{from.other.broker.value(), from.other.incarnation};
  if (found == waiting_.end() || found->second.leader != sender) return;
  finish(id, outcome_of(*answer));
}

void metadata_forwarding::on_proposal(const peer::acquaintance& from, const bytes& frame) {
  auto proposal = peer::record_in<protocol::peer_proposal>(frame);
  if (!proposal) return;
  take_(std::move(proposal->command), [this, alive = std::weak_ptr(alive_), to = from.other.broker,
                                       id = proposal->id](const result<metadata::proposed>& outcome) {
    if (alive.expired()) return;
    protocol::peer_proposed answer;
    answer.id = id;
    if (outcome) {
      answer.index = static_cast<std::int64_t>(outcome->index.value());
      answer.term = static_cast<std::int64_t>(outcome->term.value());
    } else {
      const bool is_ours =
          outcome.error().code.category() == make_error_code(metadata::errc::not_controller).category();
      answer.error = static_cast<std::int16_t>(is_ours ? outcome.error().code.value()
                                                       : static_cast<int>(metadata::errc::not_controller));
      answer.words = outcome.error().to_string();
    }
    // Lost with its connection: whoever waits hears that it is gone.
    mesh_.send(to, frame_of(peer::frame_kind::metadata_proposed, answer, overhead_bytes));
  });
}

}  // namespace braidmq::server
