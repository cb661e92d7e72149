// Bugs that only several brokers can have.
#include <optional>
#include <utility>

#include "support/raft_surgeon.hpp"
#include "world/plants.hpp"

namespace braidmq::sim {
namespace {

using raft::test::surgeon;

// Says of terms and votes that they are durable before they are.
class early_vote_log final : public wal::log {
 public:
  early_vote_log(std::unique_ptr<wal::log> target, io::executor& owner) : target_(std::move(target)), owner_(owner) {}

  const std::vector<wal::recovered_group>& recovered() const override { return target_->recovered(); }

  void append(wal::append_item item, unique_function<void(status)> durable) override {
    const bool is_early = item.entries.empty() && under_way_ == 0;
    ++under_way_;
    if (is_early) {
      owner_.post([alive = std::weak_ptr(alive_), durable = std::move(durable)]() mutable {
        if (!alive.expired()) durable({});
      });
      durable = [](const status&) {};
    }
    target_->append(std::move(item),
                    [this, alive = std::weak_ptr(alive_), durable = std::move(durable)](status done) mutable {
                      if (!alive.expired()) --under_way_;
                      durable(std::move(done));
                    });
  }

  void read(raft::group_id group, raft::index from, std::size_t max_bytes,
            unique_function<void(result<std::vector<raft::entry>>)> done) override {
    target_->read(group, from, max_bytes, std::move(done));
  }

  void release(raft::group_id group, raft::index from) override { target_->release(group, from); }

  wal::stats statistics() const override { return target_->statistics(); }

 private:
  std::unique_ptr<wal::log> target_;
  io::executor& owner_;
  std::size_t under_way_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

// The group with another mind. What its node is asked for, a changed copy of it answers.
class wrong_group final : public multiraft::group {
 public:
  wrong_group(plant which, std::unique_ptr<multiraft::group> target) : which_(which), target_(std::move(target)) {}

  void start() override { target_->start(); }
  void stop() override { target_->stop(); }
  void resume() override { target_->resume(); }

  result<raft::index> propose(bytes command) override {
    auto index = target_->propose(std::move(command));
    has_just_proposed_ = index.has_value();
    return index;
  }

  void step(raft::message message) override {
    target_->step(std::move(message));
    if (which_ == plant::old_terms_counted) surgeon::count_old_terms(const_cast<raft::node&>(target_->node()));
  }

  void read_index(unique_function<void(result<raft::index>)> done) override { target_->read_index(std::move(done)); }

  status transfer(const raft::node_id& to) override { return target_->transfer(to); }
  void set_campaigns(bool campaigns) override { target_->set_campaigns(campaigns); }
  void compacted(raft::index through) override { target_->compacted(through); }
  std::optional<raft::index> held_by_all() const override { return target_->held_by_all(); }
  std::size_t unapplied_bytes() const override { return target_->unapplied_bytes(); }

  const raft::node& node() const override {
    const raft::node& real = target_->node();
    if (which_ == plant::serves_early && real.current_role() == raft::role::leader && !real.serves()) {
      changed_.emplace(real);
      surgeon::serve_at_once(*changed_);
      return *changed_;
    }
    // The term that goes with the place which was just given.
    if (which_ == plant::wrong_term_answer && std::exchange(has_just_proposed_, false)) {
      changed_.emplace(real);
      surgeon::set_term(*changed_, raft::max_term);
      return *changed_;
    }
    return real;
  }

 private:
  plant which_;
  std::unique_ptr<multiraft::group> target_;
  mutable bool has_just_proposed_ = false;
  mutable std::optional<raft::node> changed_;
};

class hasty_peers final : public multiraft::transport {
 public:
  explicit hasty_peers(multiraft::transport& target) : target_(target) {}

  void send(raft::group_id group, raft::message message) override {
    if (auto* append = std::get_if<raft::append_request>(&message.body)) {
      append->commit = append->prev_index + append->entries.size();
    }
    target_.send(group, std::move(message));
  }

 private:
  multiraft::transport& target_;
};

}  // namespace

std::unique_ptr<wal::log> early_vote_plant(std::unique_ptr<wal::log> target, io::executor& owner) {
  return std::make_unique<early_vote_log>(std::move(target), owner);
}

std::function<std::unique_ptr<multiraft::group>(std::unique_ptr<multiraft::group>)> group_plant(plant which) {
  const bool is_here =
      which == plant::old_terms_counted || which == plant::serves_early || which == plant::wrong_term_answer;
  if (!is_here) return nullptr;
  return [which](std::unique_ptr<multiraft::group> target) -> std::unique_ptr<multiraft::group> {
    return std::make_unique<wrong_group>(which, std::move(target));
  };
}

std::unique_ptr<multiraft::transport> peer_plant(plant which, multiraft::transport& target) {
  return which == plant::commit_ahead ? std::make_unique<hasty_peers>(target) : nullptr;
}

}  // namespace braidmq::sim
