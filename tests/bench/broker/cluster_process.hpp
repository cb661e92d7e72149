// Three brokers of one cluster, each a process of its own on a loopback address of its own.
//
// Owner: one thread. Blocking, each call with a deadline. Errors: std::errc, with words.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "bench/broker/broker_process.hpp"

namespace braidmq::bench {

class cluster_process {
 public:
  static constexpr std::size_t size = 3;

  // `options`: of each; data lies in folder/0, 1 and 2. Returns when all are ready.
  static result<std::unique_ptr<cluster_process>> start(const broker_options& options);

  const broker_process& at(std::size_t broker) const { return *brokers_.at(broker); }
  // Who leads all partitions of the topic; waits until somebody does.
  result<std::size_t> leader_of(const std::string& topic) const;
  status stop();

 private:
  std::array<std::unique_ptr<broker_process>, size> brokers_;
};

}  // namespace braidmq::bench
