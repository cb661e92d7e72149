#include "cluster.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "words.hpp"

namespace braidmq::raft::test {

cluster::cluster(std::size_t count, config base, observer& observer)
    : base_(std::move(base)), observer_(observer), replicas_(count), side_of_(count) {
  for (std::size_t i = 0; i < count; ++i) {
    replicas_[i].id = parse_node(std::to_string(i + 1));
    base_.voters.push_back(replicas_[i].id);
  }
}

replica& cluster::at(const node_id& id) {
  return at(static_cast<std::size_t>(id.broker));
}

replica* cluster::leader() {
  replica* found = nullptr;
  for (replica& r : replicas_) {
    if (!r.node || r.node->current_role() != role::leader) continue;
    if (found == nullptr || r.node->current_term() > found->node->current_term()) found = &r;
  }
  return found;
}

void cluster::start(replica& r) {
  BRAID_CHECK(!r.node, "it runs");
  config config = base_;
  config.self = r.id;
  config.seed = base_.seed + static_cast<std::uint64_t>(r.id.broker) * 1000 + ++r.lives;
  auto made = node::create(config, r.disk.found());
  if (!made) return observer_.refused(r, made.error());
  r.node.emplace(std::move(*made));
  r.view = r.disk.log();
  pump(r);
}

void cluster::crash(replica& r) {
  r.node.reset();
  r.disk.crash();
  r.wanted.clear();
  r.snapshots_wanted.clear();
}

void cluster::pump(replica& r) {
  if (!r.node) return;
  while (r.node->has_ready()) {
    ready what = r.node->take_ready();
    if (needs_persisting(what)) {
      for (const entry& e : what.entries) {
        r.view.resize(e.index.value() - 1);
        r.view.push_back(e);
      }
      r.disk.begin({what.state, what.entries, r.node->last_index(), r.node->last_term()});
    }
    observer_.saw(r, what);
    for (message& m : what.messages) {
      letter l{next_letter_++, std::move(m)};
      const bool cut_off = is_cut_off(l.message.from, l.message.to);
      observer_.sends(r, l, cut_off);
      if (!cut_off) network_.push_back(std::move(l));
    }
    for (const entries_request& request : what.entries_wanted) r.wanted.push_back(request);
    for (const node_id& peer : what.snapshots_wanted) r.snapshots_wanted.push_back(peer);
    if (what.commit > r.node->applied_index()) r.node->applied(what.commit);
  }
  observer_.settled(r);
}

bool cluster::persist(replica& r) {
  if (!r.node || !r.disk.is_busy()) return false;
  const disk::write done = r.disk.complete();
  r.node->persisted(done.last, done.last_term);
  pump(r);
  return true;
}

bool cluster::supply(replica& r, bool gone) {
  if (!r.node || r.wanted.empty()) return false;
  const entries_request request = r.wanted.front();
  r.wanted.pop_front();
  auto entries = r.disk.read(request.from, std::min(request.to, r.disk.last() + 1), request.max_bytes);
  if (gone || !entries) {
    r.node->unavailable(request.request);
  } else {
    r.node->supply(request.request, std::move(*entries));
  }
  pump(r);
  return true;
}

bool cluster::snapshot(replica& r, bool fails) {
  if (!r.node || r.snapshots_wanted.empty()) return false;
  replica& peer = at(r.snapshots_wanted.front());
  r.snapshots_wanted.pop_front();
  const index through = std::min(r.node->applied_index(), r.disk.last());
  // Only where it does not take anything away: a driver checks that too.
  if (!fails && !(peer.node && peer.node->commit_index() >= through)) {
    const bool runs = peer.node.has_value();
    crash(peer);
    peer.disk.install(r.disk, through);
    if (runs) start(peer);
  }
  r.node->snapshot_done(peer.id, fails ? std::nullopt : std::optional(through));
  pump(r);
  return true;
}

void cluster::compact(replica& r, index through) {
  r.node->compacted(through);
  r.disk.compact(through);
}

void cluster::deliver(const message& message, bool at_once) {
  replica& to = at(message.to);
  if (!to.node) return;
  to.node->step(message);
  if (at_once) pump(to);
}

void cluster::partition(std::vector<int> side_of) {
  side_of_ = std::move(side_of);
  std::erase_if(network_, [this](const letter& l) { return is_cut_off(l.message.from, l.message.to); });
}

void cluster::heal() {
  side_of_.assign(replicas_.size(), 0);
}

bool cluster::is_cut_off(const node_id& a, const node_id& b) {
  return side_of_.at(static_cast<std::size_t>(a.broker) - 1) != side_of_.at(static_cast<std::size_t>(b.broker) - 1);
}

}  // namespace braidmq::raft::test
