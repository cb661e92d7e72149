#include "support/sim_file_state.hpp"

#include <algorithm>
#include <set>

namespace braidmq::sim {
namespace {

enum class fate { lose_all, keep_all, keep_prefix, keep_some, keep_sectors };

fate draw_fate(rng& chance, const power_cut_options& options) {
  const unsigned weights[] = {options.lose_all, options.keep_all, options.keep_prefix, options.keep_some,
                              options.keep_sectors};
  unsigned total = 0;
  for (const unsigned weight : weights) total += weight;
  BRAID_CHECK(total > 0, "power_cut_options without any weight");
  auto at = static_cast<unsigned>(chance.below(total));
  int index = 0;
  while (at >= weights[index]) at -= weights[index++];
  return static_cast<fate>(index);
}

void overwrite(std::vector<std::byte>& content, std::uint64_t position, byte_view data) {
  if (content.size() < position + data.size()) content.resize(position + data.size());
  std::copy(data.begin(), data.end(), content.begin() + static_cast<std::ptrdiff_t>(position));
}

void apply(std::vector<std::byte>& content, const file_change& change) {
  if (change.what == file_change::kind::truncate) {
    content.resize(change.at);
  } else {
    overwrite(content, change.at, change.data);
  }
}

// Each sector of the change by itself, kept or not.
void apply_torn(std::vector<std::byte>& content, const file_change& change, rng& chance) {
  if (change.what == file_change::kind::truncate) {
    if (chance.chance(0.5)) apply(content, change);
    return;
  }
  const byte_view data = change.data;
  for (std::uint64_t done = 0; done < data.size();) {
    const std::uint64_t position = change.at + done;
    const std::uint64_t length = std::min<std::uint64_t>(sector_bytes - position % sector_bytes, data.size() - done);
    if (chance.chance(0.5)) overwrite(content, position, data.subspan(done, length));
    done += length;
  }
}

// The sizes that a file may show whatever became of its bytes: those since the last truncate, which changes size and
// bytes at once. None when the truncate is the last change.
std::vector<std::uint64_t> possible_sizes(const node& file) {
  std::vector<std::uint64_t> sizes{file.durable.size()};
  std::uint64_t size = file.durable.size();
  for (const file_change& change : file.changes) {
    if (change.what == file_change::kind::truncate) {
      size = change.at;
      sizes.clear();
    } else {
      size = std::max<std::uint64_t>(size, change.at + change.data.size());
      sizes.push_back(size);
    }
  }
  return sizes;
}

void cut_file(node& file, rng& chance, const power_cut_options& options) {
  if (!file.changes.empty()) {
    const std::vector<std::uint64_t> sizes = possible_sizes(file);
    const fate drawn = draw_fate(chance, options);
    const std::uint64_t prefix = chance.below(file.changes.size() + 1);
    for (std::size_t i = 0; i < file.changes.size(); ++i) {
      const file_change& change = file.changes[i];
      switch (drawn) {
        case fate::lose_all:
          break;
        case fate::keep_all:
          apply(file.durable, change);
          break;
        case fate::keep_prefix:
          if (i < prefix) apply(file.durable, change);
          if (i == prefix) apply_torn(file.durable, change, chance);
          break;
        case fate::keep_some:
          if (chance.chance(0.5)) apply(file.durable, change);
          break;
        case fate::keep_sectors:
          apply_torn(file.durable, change, chance);
          break;
      }
    }
    if (options.size_apart && !sizes.empty() && chance.chance(0.5))
      file.durable.resize(sizes[chance.below(sizes.size())]);
  }
  file.changes.clear();
  file.written = file.durable;
}

// `kept` remembers the draw of each group, for the other half of a rename.
void cut_folder(node& folder, rng& chance, const power_cut_options& options, std::map<std::uint64_t, bool>& kept) {
  if (!folder.name_changes.empty()) {
    const fate drawn = draw_fate(chance, options);
    const std::uint64_t prefix = chance.below(folder.name_changes.size() + 1);
    for (std::size_t i = 0; i < folder.name_changes.size(); ++i) {
      const name_change& change = folder.name_changes[i];
      const bool survives = drawn == fate::keep_all || (drawn == fate::keep_prefix && i < prefix) ||
                            ((drawn == fate::keep_some || drawn == fate::keep_sectors) && chance.chance(0.5));
      if (!kept.try_emplace(change.group, survives).first->second) continue;
      if (change.target) {
        folder.durable_names[change.name] = change.target;
      } else {
        folder.durable_names.erase(change.name);
      }
    }
  }
  folder.name_changes.clear();
  folder.names = folder.durable_names;
}

void collect(const node_ptr& from, std::set<const node*>& seen, std::vector<node_ptr>& found) {
  if (!from || !seen.insert(from.get()).second) return;
  found.push_back(from);
  for (const auto& [name, target] : from->names) collect(target, seen, found);
  for (const auto& [name, target] : from->durable_names) collect(target, seen, found);
  for (const name_change& change : from->name_changes) collect(change.target, seen, found);
}

}  // namespace

void node::write(std::uint64_t position, byte_view data) {
  if (data.empty()) return;
  overwrite(written, position, data);
  changes.push_back({file_change::kind::write, position, {data.begin(), data.end()}});
}

void node::truncate(std::uint64_t size) {
  written.resize(size);
  changes.push_back({file_change::kind::truncate, size, {}});
}

void node::sync() {
  for (const file_change& change : changes) apply(durable, change);
  changes.clear();
  durable_names = names;
  name_changes.clear();
}

void node::lose_changes() {
  changes.clear();
  name_changes.clear();
}

void node::discard_cache() {
  written = durable;
  for (const file_change& change : changes) apply(written, change);
}

void node::set_name(std::uint64_t group, const std::string& name, node_ptr target) {
  if (target) {
    names[name] = target;
  } else {
    names.erase(name);
  }
  name_changes.push_back({group, name, std::move(target)});
}

std::vector<node_ptr> all_nodes(const node_ptr& root) {
  std::set<const node*> seen;
  std::vector<node_ptr> found;
  collect(root, seen, found);
  return found;
}

node_ptr clone(const node_ptr& root) {
  std::map<const node*, node_ptr> copies;
  const std::vector<node_ptr> originals = all_nodes(root);
  for (const node_ptr& original : originals) copies[original.get()] = std::make_shared<node>(*original);
  const auto redirect = [&](node_ptr& target) {
    if (target) target = copies.at(target.get());
  };
  for (const node_ptr& original : originals) {
    node& copy = *copies.at(original.get());
    for (auto& [name, target] : copy.names) redirect(target);
    for (auto& [name, target] : copy.durable_names) redirect(target);
    for (name_change& change : copy.name_changes) redirect(change.target);
  }
  return copies.at(root.get());
}

void cut_power(const node_ptr& root, rng& chance, const power_cut_options& options) {
  std::map<std::uint64_t, bool> kept;
  for (const node_ptr& each : all_nodes(root)) {
    if (each->is_folder) {
      cut_folder(*each, chance, options, kept);
    } else {
      cut_file(*each, chance, options);
    }
  }
}

}  // namespace braidmq::sim
