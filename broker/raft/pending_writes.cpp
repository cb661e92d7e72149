#include "raft/pending_writes.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace braidmq::raft {

void pending_writes::truncated(index from) {
  for (write& write : writes_) write.valid = std::min(write.valid, from - 1);
}

pending_writes::write pending_writes::done(index last, term last_term) {
  BRAID_CHECK(!writes_.empty(), "entry {} of term {} was not handed out to be persisted", last, last_term);
  const write oldest = writes_.front();
  writes_.pop_front();
  BRAID_CHECK(oldest.last == last && oldest.last_term == last_term,
              "persisted {} of term {}, in turn was {} of term {}", last, last_term, oldest.last, oldest.last_term);
  return oldest;
}

}  // namespace braidmq::raft
