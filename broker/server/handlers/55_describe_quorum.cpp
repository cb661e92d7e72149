// DescribeQuorum, versions 0 to 2: the quorum of the metadata log, under the name that Kafka gives it. Every voter
// answers with what it knows: how far the others are, the leader alone. An entry's index is taken for its offset. When
// a voter fetched last nobody notes: ours do not fetch, they are sent to.
#include "server/handlers/handlers.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::describe_quorum_response;
using protocol::error_code;

constexpr std::string_view log_name = "__cluster_metadata";

std::int64_t end_behind(raft::index last) {
  return static_cast<std::int64_t>(last.value()) + 1;
}

void fill(describe_quorum_response& response, const metadata::quorum_state& quorum, std::int16_t version,
          std::int64_t now_ms) {
  auto& partition = response.topics.at(0).partitions.at(0);
  partition.leader_id = quorum.leader.is_none() ? model::no_broker : model::broker_id(quorum.leader.broker);
  partition.leader_epoch = model::leader_epoch(static_cast<std::int32_t>(quorum.term.value()));
  partition.high_watermark = model::offset(end_behind(quorum.commit));
  for (const metadata::voter_progress& one : quorum.voters) {
    auto& voter = partition.current_voters.emplace_back();
    voter.replica_id = model::broker_id(one.voter.broker);
    voter.log_end_offset = model::offset(one.last ? end_behind(*one.last) : -1);
    if (one.voter == quorum.leader) voter.last_caught_up_timestamp = now_ms;
    if (version < 2) continue;
    voter.replica_directory_id = one.voter.incarnation;
    response.nodes.push_back({model::broker_id(one.voter.broker), {}});
  }
}

}  // namespace

answer_of<protocol::describe_quorum_response> describe_quorum(request_ptr context,
                                                              protocol::describe_quorum_request request) {
  context->accept();
  describe_quorum_response response;
  bool is_ours = request.topics.size() == 1 && request.topics[0].topic_name == log_name &&
                 request.topics[0].partitions.size() == 1 &&
                 request.topics[0].partitions[0].partition_index == model::partition_index(0);
  for (const auto& topic : request.topics) {
    auto& answers = response.topics.emplace_back();
    answers.topic_name = topic.topic_name;
    for (const auto& asked : topic.partitions) {
      auto& answer = answers.partitions.emplace_back();
      answer.partition_index = asked.partition_index;
      if (!is_ours) answer.error_code = error_code::unknown_topic_or_partition;
    }
  }
  if (!is_ours) co_return response;
  broker& self = context->broker;
  auto ask = [&self](unique_function<void(metadata::quorum_state)> done) {
    self.environment().metadata.post([&self, done = std::move(done)]() mutable { done(self.controller().quorum()); });
  };
  const auto quorum = co_await runtime::await_callback<metadata::quorum_state>(ask);
  fill(response, quorum, context->version, self.environment().clock.wall_ms());
  co_return response;
}

}  // namespace braidmq::server::handlers
