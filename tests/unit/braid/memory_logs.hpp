// Makes partition logs in memory and keeps them in view.
#pragma once

#include <map>
#include <memory>

#include "braid/machine.hpp"
#include "support/memory_partition_log.hpp"

namespace braidmq::braid {

class memory_logs final : public log_factory {
 public:
  std::unique_ptr<storage::partition_log> make(const model::topic_partition_id& id) override {
    auto log = std::make_unique<sim::memory_partition_log>();
    logs[id] = log.get();
    return log;
  }
  void configure(storage::partition_log&, const config_values&) override {}
  std::map<model::topic_partition_id, sim::memory_partition_log*> logs;
};

}  // namespace braidmq::braid
