// What an informer keeps of a kind: one immutable row per object, made from its JSON by a function of the kind, so that
// a thousand objects cost what the operator reads of them and not what the server sends.
//
// Threads: any. A row once handed out never changes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "k8s/object.hpp"

namespace braidmq::k8s {

// What the informer itself needs, and every row begins with.
struct row_header {
  object_key key;
  std::string uid;
  std::string resource_version;
};

template <class Row>
class cache {
 public:
  using row_ptr = std::shared_ptr<const Row>;

  row_ptr find(const object_key& key) const {
    std::lock_guard lock(mutex_);
    const auto found = rows_.find(key);
    return found == rows_.end() ? nullptr : found->second;
  }

  // In order of their keys.
  std::vector<row_ptr> all() const {
    std::lock_guard lock(mutex_);
    std::vector<row_ptr> rows;
    rows.reserve(rows_.size());
    for (const auto& [key, row] : rows_) rows.push_back(row);
    return rows;
  }

  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return rows_.size();
  }

  // For the informer, and for tests that stand in for one. Each returns the row that was there before.
  row_ptr put(const object_key& key, row_ptr row) {
    std::lock_guard lock(mutex_);
    auto& place = rows_[key];
    std::swap(place, row);
    return row;
  }
  row_ptr erase(const object_key& key) {
    std::lock_guard lock(mutex_);
    auto node = rows_.extract(key);
    return node ? std::move(node.mapped()) : nullptr;
  }
  std::map<object_key, row_ptr> replace(std::map<object_key, row_ptr> rows) {
    std::lock_guard lock(mutex_);
    rows_.swap(rows);
    return rows;
  }

 private:
  mutable std::mutex mutex_;
  std::map<object_key, row_ptr> rows_;
};

}  // namespace braidmq::k8s
