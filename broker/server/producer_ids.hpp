// Producer ids for idempotent producers, one block of the metadata quorum at a time. Ids left in a block when the
// broker stops are lost, which costs nothing: there are 2^63.
//
// Threads: next() from anywhere; the rest lives on the metadata executor, where callbacks run.
#pragma once

#include <deque>
#include <memory>

#include "metadata/controller.hpp"

namespace braidmq::server {

class producer_ids {
 public:
  producer_ids(metadata::controller& controller, io::executor& metadata)
      : controller_(controller), executor_(metadata) {}

  void next(io::duration timeout, unique_function<void(result<model::producer_id>)> done);

 private:
  using callback = unique_function<void(result<model::producer_id>)>;

  void serve();

  metadata::controller& controller_;
  io::executor& executor_;
  metadata::producer_id_block block_;
  std::deque<callback> waiting_;
  bool asked_ = false;
  io::duration timeout_{};
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace braidmq::server
