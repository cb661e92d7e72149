#include "cluster_session.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace braidmq::raft::test {
namespace {

std::string office_of(const node& n) {
  return fmt::format("{} term={} leader={}", show(n.current_role()), n.current_term(), show(n.leader()));
}

bool matches(const command& c, const letter& l) {
  if (c.has("id")) {
    const auto wanted = split(c.text("id"), ',');
    if (std::find(wanted.begin(), wanted.end(), std::to_string(l.id)) == wanted.end()) return false;
  }
  return (!c.has("from") || parse_node(c.text("from")) == l.message.from) &&
         (!c.has("to") || parse_node(c.text("to")) == l.message.to) &&
         (!c.has("kind") || c.text("kind") == kind_of(l.message));
}

// "1,1,2": terms of the entries from 1 on.
std::vector<entry> parse_log(const std::string& text) {
  std::vector<entry> log;
  for (const std::string& word : split(text, ',')) {
    log.push_back({term(std::stoull(word)), index(log.size() + 1), entry_kind::command, bytes::copy_of("old")});
  }
  return log;
}

std::pair<term, index> parse_place(const std::string& text) {
  const auto parts = split(text, '/');
  return {term(std::stoull(parts.at(0))), index(std::stoull(parts.at(1)))};
}

}  // namespace

void cluster_session::scribe::saw(const replica& who, const ready& what) {
  checker.saw(who, what);
  if (needs_persisting(what) && !brief) {
    out += fmt::format("{} writes", show(who.id));
    if (what.state) out += " " + show(*what.state);
    for (const entry& e : what.entries) out += " | " + show(e);
    out += "\n";
  }
  for (const read_answer& answer : what.reads) {
    out += fmt::format("{} read {}: {}\n", show(who.id), answer.context,
                       answer.index ? fmt::format("index={}", *answer.index) : "lost");
  }
  for (const entries_request& r : what.entries_wanted) {
    out += fmt::format("{} wants entries {} to {} for {}\n", show(who.id), r.from, r.to - 1, show(r.peer));
  }
  for (const node_id& peer : what.snapshots_wanted) {
    out += fmt::format("{} wants a snapshot for {}\n", show(who.id), show(peer));
  }
  index& commit = commits[who.id];
  if (what.commit > commit) {
    commit = what.commit;
    out += fmt::format("{} applies to {}\n", show(who.id), commit);
  }
}

void cluster_session::scribe::sends(const replica& who, const letter& what, bool cut_off) {
  checker.sends(who, what, cut_off);
  if (brief) return;
  out += fmt::format("{}->{} {} {}\n", show(what.message.from), show(what.message.to),
                     cut_off ? "cut off" : fmt::format("#{}", what.id), show(what.message));
}

void cluster_session::scribe::refused(const replica& who, const error& why) {
  out += fmt::format("{} cannot start: {}\n", show(who.id), why.to_string());
}

void cluster_session::scribe::settled(const replica& who) {
  checker.settled(who);
  std::string& office = offices[who.id];
  if (office == office_of(*who.node)) return;
  office = office_of(*who.node);
  out += fmt::format("{} is {}\n", show(who.id), office);
}

cluster_session::cluster_session(const command& first) {
  config base;
  base.election_ticks = static_cast<std::uint32_t>(first.number("election_ticks", 10));
  base.heartbeat_ticks = static_cast<std::uint32_t>(first.number("heartbeat_ticks", 1));
  base.seed = first.number("seed", 0);
  base.max_append_bytes = first.number("append_bytes", base.max_append_bytes);
  base.max_in_flight_appends = first.number("in_flight", base.max_in_flight_appends);
  base.max_in_flight_bytes = first.number("in_flight_bytes", base.max_in_flight_bytes);
  base.keep_bytes = first.number("keep_bytes", base.keep_bytes);
  base.max_reads = first.number("max_reads", base.max_reads);
  cluster_ = std::make_unique<test::cluster>(first.number("n"), base, scribe_);
  scribe_.checker.watch(*cluster_);
}

std::string cluster_session::run(const command& c) {
  scribe_.out.clear();
  scribe_.brief = c.has("brief") || c.verb == "settle";
  std::string answer = act(c);
  if (!scribe_.checker.violation().empty()) answer += "VIOLATION: " + scribe_.checker.violation() + "\n";
  return answer.empty() ? "nothing\n" : answer;
}

replica& cluster_session::running(const command& c) {
  replica& r = cluster_->at(parse_node(c.text("node")));
  if (!r.node) throw std::invalid_argument(c.verb + ": the node does not run");
  return r;
}

std::string cluster_session::act(const command& c) {
  const auto say = [this](const std::string& words) { scribe_.out += words + "\n"; };
  if (c.verb == "cluster") {
    if (c.text("n") != "0" && !c.has("stopped")) {
      for (replica& r : cluster_->replicas()) cluster_->start(r);
    }
  } else if (c.verb == "disk") {
    replica& r = cluster_->at(parse_node(c.text("node")));
    r.disk.set(
        {term(c.number("term")), parse_node(c.has("vote") ? c.text("vote") : "none"), index(c.number("commit", 0))},
        parse_log(c.has("log") ? c.text("log") : ""));
  } else if (c.verb == "start") {
    for (const std::string& name : split(c.text("node"), ',')) {
      replica& r = cluster_->at(parse_node(name));
      scribe_.offices.erase(r.id);
      scribe_.commits.erase(r.id);
      cluster_->start(r);
    }
  } else if (c.verb == "crash") {
    for (const std::string& name : split(c.text("node"), ',')) cluster_->crash(cluster_->at(parse_node(name)));
  } else if (c.verb == "tick") {
    for (const std::string& name : split(c.text("node"), ',')) {
      replica& r = cluster_->at(parse_node(name));
      for (std::uint64_t n = c.number("n", 1); n > 0; --n) {
        r.node->tick();
        cluster_->pump(r);
      }
    }
  } else if (c.verb == "campaign") {
    running(c).node->campaign();
    cluster_->pump(running(c));
  } else if (c.verb == "campaigns") {
    running(c).node->set_campaigns(c.text("on") == "yes");
    cluster_->pump(running(c));
  } else if (c.verb == "propose") {
    for (const std::string& data : split(c.text("data"), ',')) {
      const auto at = running(c).node->propose(bytes::copy_of(data));
      say(at ? fmt::format("index={}", *at) : at.error().to_string());
    }
    cluster_->pump(running(c));
  } else if (c.verb == "read") {
    const std::uint64_t context = c.number("context");
    if (const auto asked = running(c).node->read_index(context); asked) {
      scribe_.checker.asked(context);
    } else {
      say(asked.error().to_string());
    }
    if (!c.has("more")) cluster_->pump(running(c));
  } else if (c.verb == "transfer") {
    const auto begun = running(c).node->transfer(parse_node(c.has("to") ? c.text("to") : "none"));
    if (!begun) say(begun.error().to_string());
    cluster_->pump(running(c));
  } else if (c.verb == "persist") {
    for (const std::string& name : split(c.text("node"), ',')) {
      for (std::uint64_t n = c.number("n", 1); n > 0; --n) {
        if (!cluster_->persist(cluster_->at(parse_node(name)))) say(name + " has nothing to persist");
      }
    }
  } else if (c.verb == "deliver" || c.verb == "drop" || c.verb == "double") {
    apply_to_letters(c);
  } else if (c.verb == "inject") {
    inject(c);
  } else if (c.verb == "partition") {
    std::vector<int> sides(cluster_->replicas().size(), 0);
    for (const std::string& name : split(c.text("away"), ',')) {
      sides.at(static_cast<std::size_t>(parse_node(name).broker) - 1) = 1;
    }
    cluster_->partition(std::move(sides));
  } else if (c.verb == "heal") {
    cluster_->heal();
  } else if (c.verb == "compact") {
    cluster_->compact(running(c), index(c.number("through")));
  } else if (c.verb == "supply") {
    if (!cluster_->supply(running(c), c.has("gone"))) say("nothing is wanted");
  } else if (c.verb == "snapshot") {
    if (!cluster_->snapshot(running(c), c.has("fails"))) say("no snapshot is wanted");
  } else if (c.verb == "settle") {
    settle();
  } else if (c.verb == "status") {
    for (const replica& r : cluster_->replicas()) {
      if (!c.has("node") || parse_node(c.text("node")) == r.id) status(r);
    }
  } else {
    throw std::invalid_argument("unknown verb " + c.verb);
  }
  return scribe_.out;
}

void cluster_session::apply_to_letters(const command& c) {
  auto& network = cluster_->network();
  std::vector<letter> chosen;
  for (const letter& l : network) {
    if (matches(c, l)) chosen.push_back(l);
  }
  if (chosen.empty()) scribe_.out += "no such message\n";
  // In the order in which they are named.
  if (c.has("id")) {
    const auto wanted = split(c.text("id"), ',');
    const auto place = [&](const letter& l) { return std::find(wanted.begin(), wanted.end(), std::to_string(l.id)); };
    std::sort(chosen.begin(), chosen.end(), [&](auto& a, auto& b) { return place(a) < place(b); });
  }
  if (c.verb != "double") {
    std::erase_if(network, [&](const letter& l) {
      return std::any_of(chosen.begin(), chosen.end(), [&](const letter& k) { return k.id == l.id; });
    });
  }
  if (c.verb == "drop") return;
  for (const letter& l : chosen) cluster_->deliver(l.message, !c.has("together"));
  if (!c.has("together")) return;
  for (replica& r : cluster_->replicas()) cluster_->pump(r);
}

// A message that no node of the cluster has sent.
void cluster_session::inject(const command& c) {
  message m{parse_node(c.text("from")), parse_node(c.text("to")), term(c.number("term")), timeout_now{}};
  const std::string kind = c.text("kind");
  if (kind == "vote" || kind == "pre_vote") {
    const auto [last_term, last] = parse_place(c.text("last"));
    m.body = vote_request{.pre = kind == "pre_vote", .last_index = last, .last_term = last_term};
  } else if (kind == "vote_answer") {
    m.body = vote_response{.granted = true, .asked = m.term};
  } else if (kind == "append") {
    const auto [prev_term, prev] = parse_place(c.text("prev"));
    append_request request{prev, prev_term, index(c.number("commit", 0)), {}};
    for (const std::string& e : split(c.has("entries") ? c.text("entries") : "", ',')) {
      const auto [at_term, at] = parse_place(e);
      request.entries.push_back({at_term, at, entry_kind::command, bytes::copy_of("new")});
    }
    m.body = std::move(request);
  } else if (kind == "append_answer") {
    m.body = append_response{.index = index(c.number("durable")), .hint_index = {}, .hint_term = {}};
  } else if (kind == "heartbeat") {
    m.body = heartbeat{index(c.number("commit", 0)), c.number("round", 0)};
  } else if (kind == "heartbeat_answer") {
    m.body = heartbeat_response{c.number("round", 0)};
  } else if (kind != "timeout_now") {
    throw std::invalid_argument("inject knows no " + kind);
  }
  cluster_->deliver(m);
}

// Until nothing is under way; no time passes.
void cluster_session::settle() {
  for (int rounds = 0; rounds < 1000; ++rounds) {
    bool busy = false;
    while (!cluster_->network().empty()) {
      const letter l = std::move(cluster_->network().front());
      cluster_->network().pop_front();
      cluster_->deliver(l.message);
      busy = true;
    }
    for (replica& r : cluster_->replicas()) {
      while (cluster_->persist(r) || cluster_->supply(r)) busy = true;
    }
    if (!busy) return;
  }
  throw std::invalid_argument("the nodes never come to rest");
}

void cluster_session::status(const replica& r) {
  std::string line = show(r.id);
  if (!r.node) {
    line += fmt::format(" stopped {}", show(r.disk.state()));
  } else {
    line += fmt::format(" {} last={}/{} persisted={} commit={} serves={}", office_of(*r.node), r.node->last_term(),
                        r.node->last_index(), r.node->persisted_index(), r.node->commit_index(), r.node->serves());
  }
  std::string terms;
  for (const entry& e : r.node ? r.view : r.disk.log()) terms += fmt::format("{}{}", terms.empty() ? "" : ",", e.term);
  scribe_.out += line + " log=" + terms + "\n";
}

}  // namespace braidmq::raft::test
