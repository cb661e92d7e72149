#include "server/producer_ids.hpp"

#include <utility>

namespace braidmq::server {

void producer_ids::next(io::duration timeout, callback done) {
  executor_.post([this, alive = std::weak_ptr(alive_), timeout, done = std::move(done)]() mutable {
    if (alive.expired()) return;
    timeout_ = timeout;
    waiting_.push_back(std::move(done));
    serve();
  });
}

void producer_ids::serve() {
  while (!waiting_.empty() && block_.count > 0) {
    callback done = std::move(waiting_.front());
    waiting_.pop_front();
    const model::producer_id id = block_.first;
    block_ = {id + 1, block_.count - 1};
    done(id);
  }
  if (waiting_.empty() || asked_) return;
  asked_ = true;
  controller_.allocate_producer_ids(timeout_,
                                    [this, alive = std::weak_ptr(alive_)](result<metadata::producer_id_block> block) {
                                      if (alive.expired()) return;
                                      asked_ = false;
                                      if (!block) {
                                        for (callback& done : std::exchange(waiting_, {}))
                                          done(tl::unexpected(block.error()));
                                        return;
                                      }
                                      block_ = *block;
                                      serve();
                                    });
}

}  // namespace braidmq::server
