// What comes last: learns all topics, writes one batch to every partition, reads every partition from its beginning to
// its end.
#pragma once

#include <set>
#include <string>

#include "checkers/checkers.hpp"
#include "workload/client.hpp"

namespace braidmq::sim {

class final_reader final : public client {
 public:
  final_reader(workload_context& context, rng chance) : client(context, "final", chance) { start(); }

  void learn_topics() { task_ = task::learn; }
  void write_everywhere();
  void read_everything();

  bool idle() const override { return client::idle() && task_ == task::none; }
  const partition_content& content() const { return content_; }
  const std::string& failure() const { return failure_; }

 private:
  enum class task { none, learn, write, read };

  void on_turn() override;
  void learn();
  void ask_who_leads();
  void write_next();
  void read_next();
  void take(const fetched_partition& got);
  void begin_at_start_of(const topic_partition_id& target);
  std::set<topic_partition_id> all_partitions() const;
  bool asks_who_leads_ = false;
  io::time_point tried_from_;
  std::set<model::topic_id> listed_;  // churning topics, by the last learn()
  std::string name_of(const model::topic_id& id) const;

  task task_ = task::none;
  std::set<topic_partition_id> left_;
  int tries_ = 0;
  partition_content content_;
  std::string failure_;
};

}  // namespace braidmq::sim
