// Where leader epochs end: OffsetForLeaderEpoch of a replica.
#include "braid/replica.hpp"

namespace braidmq::braid {

epoch_answer replica::find_epoch_end(const epoch_query& query) const {
  if (stopped_) return {errc::stopped, {model::no_epoch, model::offset(-1)}};
  if (failed_) return {errc::storage_failed, {model::no_epoch, model::offset(-1)}};
  if (!group_->node().serves()) return {errc::not_leader, {model::no_epoch, model::offset(-1)}};
  const raft::term term = group_->node().current_term();
  epoch_answer answer;
  const partition::partition* target = machine_.find(query.target);
  answer.error = check_epoch(target, query.current_epoch, term);
  if (answer.error) return answer;
  if (const auto found = target->find_epoch_end(query.epoch, target->epoch_of_term(term.value()))) {
    answer.found = *found;
  }
  return answer;
}

}  // namespace braidmq::braid
