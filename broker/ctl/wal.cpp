#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ctl/commands.hpp"
#include "ctl/output.hpp"
#include "wal/inspect.hpp"

namespace braidmq::ctl {
namespace {

using nlohmann::json;

json to_json(const raft::hard_state& state) {
  json shown = {{"term", state.term.value()}, {"commit", state.commit.value()}};
  if (!state.vote.is_none()) shown["vote"] = state.vote.broker;
  return shown;
}

std::string to_text(const raft::hard_state& state) {
  const std::string vote = state.vote.is_none() ? "none" : std::to_string(state.vote.broker);
  return fmt::format("term {}, vote {}, commit {}", state.term, vote, state.commit);
}

class printer final : public wal::visitor {
 public:
  explicit printer(context& with) : with_(with) {}

  void on_file(const std::string& path, const wal::format::file_header& header) override {
    if (with_.as == format::json) {
      line({{"file", path},
            {"incarnation", header.incarnation.to_string()},
            {"sequence", header.file_sequence},
            {"firstGroup", header.first_group}});
    } else {
      with_.out << fmt::format("{}: incarnation {}, from group write {}\n", path, header.incarnation.to_string(),
                               header.first_group);
    }
  }

  void on_states(const wal::format::group_header& group, const wal::format::group_states& states) override {
    json list = json::array();
    std::string text;
    for (const auto& [id, state] : states) {
      list.push_back({{"group", id.value()},
                      {"state", to_json(state.state)},
                      {"lastIndex", state.last_index.value()},
                      {"lastTerm", state.last_term.value()}});
      text += fmt::format("; group {}: {}, last entry {} of term {}", id, to_text(state.state), state.last_index,
                          state.last_term);
    }
    show(group, "state", {{"states", std::move(list)}}, text);
  }

  void on_items(const wal::format::group_header& group, const std::vector<wal::append_item>& items) override {
    json list = json::array();
    std::string text;
    for (const wal::append_item& item : items) {
      json one = {{"group", item.group.value()}};
      text += fmt::format("; group {}:", item.group);
      if (item.state) {
        one["state"] = to_json(*item.state);
        text += " " + to_text(*item.state) + (item.entries.empty() ? "" : ",");
      }
      if (!item.entries.empty()) {
        std::size_t bytes = 0;
        for (const raft::entry& entry : item.entries) bytes += entry.payload.size();
        const raft::entry& first = item.entries.front();
        const raft::entry& last = item.entries.back();
        one["entries"] = {{"first", first.index.value()},
                          {"last", last.index.value()},
                          {"term", last.term.value()},
                          {"bytes", bytes}};
        text += fmt::format(" entries {} to {} of term {}, {} bytes", first.index, last.index, last.term, bytes);
      }
      list.push_back(std::move(one));
    }
    show(group, "items", {{"items", std::move(list)}}, text);
  }

  void on_mark(const wal::format::group_header& group) override { show(group, "mark", json::object(), ""); }

  void on_end(const std::string& path, std::uint64_t position, std::uint64_t torn_bytes) override {
    if (with_.as == format::json) {
      line({{"end", position}, {"tornBytes", torn_bytes}});
      return;
    }
    with_.out << fmt::format("{}: the log ends at byte {}{}\n", path, position,
                             torn_bytes == 0 ? std::string() : fmt::format(", where {} bytes are torn", torn_bytes));
  }

 private:
  void line(const json& value) { with_.out << value.dump() << '\n'; }

  void show(const wal::format::group_header& group, const char* kind, json more, const std::string& text) {
    if (with_.as == format::json) {
      more.update({{"position", group.position},
                   {"sequence", group.sequence},
                   {"durable", group.durable},
                   {"kind", kind},
                   {"payloadBytes", group.payload_bytes}});
      line(more);
      return;
    }
    with_.out << fmt::format("  byte {:>10}  group write {}, durable {}, {}{}\n", group.position, group.sequence,
                             group.durable, kind, text);
  }

  context& with_;
};

}  // namespace

int dump_wal(context& with, const std::string& folder) {
  printer shown(with);
  const status walked = wal::inspect(io::posix_file_system(), folder, shown);
  with.out.flush();
  return walked ? exit_good : refuse(with, walked.error());
}

}  // namespace braidmq::ctl
