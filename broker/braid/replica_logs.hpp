// Part of the replica: how its partitions get their logs. Included by the replica's own files alone.
#pragma once

#include <memory>
#include <string>

#include "braid/replica.hpp"

namespace braidmq::braid {

// Makes partition logs in the replica's folder and hears of their write-behind.
class replica::logs final : public log_factory {
 public:
  explicit logs(replica& owner) : owner_(owner) {}

  std::unique_ptr<storage::partition_log> make(const model::topic_partition_id& id) override {
    const replica_environment& environment = owner_.environment_;
    return storage::partition_log::create(environment.fs, environment.disk, environment.owner, folder(id),
                                          owner_.options_.log, callbacks());
  }

  void configure(storage::partition_log& log, const config_values& configs) override {
    if (owner_.options_.segments) log.set_segment_bounds(owner_.options_.segments(configs));
  }

  // As a checkpoint remembers it.
  result<std::unique_ptr<storage::partition_log>> open(const pinned_partition& one) {
    const replica_environment& environment = owner_.environment_;
    return storage::partition_log::open(environment.fs, environment.disk, environment.owner, folder(one.id),
                                        owner_.options_.log, one.log.manifest, callbacks());
  }

 private:
  std::string folder(const model::topic_partition_id& id) const {
    return fmt::format("{}/{}", owner_.options_.data_folder, id);
  }
  storage::log_callbacks callbacks() {
    storage::log_callbacks all;
    all.on_written = [this](std::size_t size_bytes) { owner_.on_written(size_bytes); };
    all.on_failure = [this](error why) { owner_.fatal(std::move(why)); };
    return all;
  }

  replica& owner_;
};

}  // namespace braidmq::braid
