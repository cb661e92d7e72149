// What lies behind sim_file_system: files and folders with a durable and a current version each, and what a power cut
// makes of them. Not thread-safe; sim_file_system guards it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/bytes.hpp"
#include "support/sim_file_system.hpp"
#include "support/sim_random.hpp"

namespace braidmq::sim {

inline constexpr std::uint64_t sector_bytes = 512;

// A change of a file that no sync has made durable.
struct file_change {
  enum class kind { write, truncate } what;
  std::uint64_t at;  // position of the write, or the new size
  std::vector<std::byte> data;
};

struct node;
using node_ptr = std::shared_ptr<node>;

// A change of a folder that no sync has made durable. Changes of one rename have the same group.
struct name_change {
  std::uint64_t group;
  std::string name;
  node_ptr target;  // null: the name goes away
};

struct node {
  bool is_folder = false;

  // Of a file. `durable` plus all `changes` is `written`, unless a failed sync lost some of them.
  std::vector<std::byte> written;
  std::vector<std::byte> durable;
  std::vector<file_change> changes;

  // Of a folder.
  std::map<std::string, node_ptr> names;
  std::map<std::string, node_ptr> durable_names;
  std::vector<name_change> name_changes;

  void write(std::uint64_t position, byte_view data);
  void truncate(std::uint64_t size);
  void sync();
  void lose_changes();
  void discard_cache();  // readers see what is durable, and the changes that a sync still can save  // a failed sync:
                         // seen by readers, but never durable

  void set_name(std::uint64_t group, const std::string& name, node_ptr target);
};

// Every node that can be reached by any version of any name, each once, in an order that does not depend on addresses.
std::vector<node_ptr> all_nodes(const node_ptr& root);

// A deep copy. Nodes that had several names have them in the copy too.
node_ptr clone(const node_ptr& root);

// Gives every node below `root` one of the states that its durable version and its changes allow.
void cut_power(const node_ptr& root, rng& chance, const power_cut_options& options);

}  // namespace braidmq::sim
