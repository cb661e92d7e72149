// Runs the commands of a transcript of several nodes. The words: tests/data/raft/README.md.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "checker.hpp"
#include "cluster.hpp"
#include "words.hpp"

namespace braidmq::raft::test {

class cluster_session {
 public:
  // `first` is the cluster command, which run() answers.
  explicit cluster_session(const command& first);
  // What came of a command, line by line; what the checker finds stands there too.
  std::string run(const command& c);

 private:
  // Writes down what nodes do, and lets the checker see it.
  class scribe final : public observer {
   public:
    void saw(const replica& who, const ready& what) override;
    void sends(const replica& who, const letter& what, bool cut_off) override;
    void refused(const replica& who, const error& why) override;
    void settled(const replica& who) override;

    test::checker checker;
    std::string out;
    bool brief = false;  // no messages and writes
    std::map<node_id, std::string> offices;
    std::map<node_id, index> commits;
  };

  std::string act(const command& c);
  replica& running(const command& c);
  void apply_to_letters(const command& c);
  void inject(const command& c);
  void settle();
  void status(const replica& r);

  scribe scribe_;
  std::unique_ptr<test::cluster> cluster_;
};

}  // namespace braidmq::raft::test
