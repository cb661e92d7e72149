// The brokers of a cluster of several voters, as far as an operator sees them: folders in claims, and between those
// that run the broker's own rules of a founding (peer/birth.hpp). Disk and network take no time.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fake_broker.hpp"
#include "peer/birth.hpp"
#include "sim/world/random_bytes.hpp"

namespace braidmq::reconcile::testing {

// What a broker was started with.
struct broker_start {
  std::string pod;
  std::string pod_uid;
  std::string claim_uid;  // another claim is another, empty folder
  std::int32_t id = 0;
  std::vector<std::int32_t> voters;
  std::string cluster_id;
  bool may_found = true;
};

class played_brokers {
 public:
  bool knows(const std::string& pod) const { return pods_.contains(pod); }  // it has run once
  bool runs(const std::string& pod) const { return running_.contains(pod); }
  std::vector<std::string> running() const;
  bool is_running(const std::string& pod, const std::string& pod_uid) const;
  void start(const broker_start& with);
  void stop(const std::string& pod);

  // All that run tell each other what they know, until nothing is news.
  void exchange();

  // Born, and with it a majority of the lives that it was founded with.
  bool is_ready(const std::string& pod) const;
  fake_member member(const std::string& pod) const;

  // Every founding that any folder has ever known as born.
  const std::vector<peer::founding>& founded() const { return founded_; }

 private:
  struct folder {
    raft::node_id life;
    peer::birth_state durable;
  };
  struct process {
    broker_start with;
    std::unique_ptr<peer::birth> birth;
  };

  void take(const process& of, const peer::birth::step& step);
  folder& folder_of(const process& of) { return folders_.at(of.with.claim_uid); }
  const folder& folder_of(const process& of) const { return folders_.at(of.with.claim_uid); }
  std::size_t count_voters(const peer::founding& of) const;

  sim::random_bytes random_{7};
  std::map<std::string, folder> folders_;   // by uid of the claim
  std::map<std::string, process> running_;  // by pod
  std::set<std::string> pods_;
  std::vector<peer::founding> founded_;
};

}  // namespace braidmq::reconcile::testing
