// What an informer keeps of a kind: one immutable row per object, made from its JSON by a function of the kind, so that
// a thousand objects cost what the operator reads of them and not what the server sends.
//
// A kind of which there are thousands, and whose rows are looked for by more than their key, says by what: its
// index_key() is a tuple of views into the row, kept in order beside the rows. find_by() takes that tuple's first
// members, one or all.
//
// Threads: any. A row once handed out never changes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
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
concept indexed_row = requires(const Row& row) { row.index_key(); };

// The rows in order of their index_key(), and those of one by their key.
template <class Row>
class row_index {
 public:
  using row_ptr = std::shared_ptr<const Row>;

  void add(const row_ptr& row) { rows_.insert(row); }
  void drop(const row_ptr& row) { rows_.erase(row); }
  void clear() { rows_.clear(); }

  template <class... Parts>
  std::vector<row_ptr> find(const Parts&... parts) const {
    const auto [first, last] = rows_.equal_range(std::tuple<Parts...>(parts...));
    return {first, last};
  }

 private:
  struct by_index {
    using is_transparent = void;

    template <std::size_t... I>
    static auto front(const Row& row, std::index_sequence<I...>) {
      const auto whole = row.index_key();
      return std::make_tuple(std::get<I>(whole)...);
    }
    bool operator()(const row_ptr& a, const row_ptr& b) const {
      const auto left = a->index_key();
      const auto right = b->index_key();
      return left != right ? left < right : a->key < b->key;
    }
    template <class... Parts>
    bool operator()(const row_ptr& row, const std::tuple<Parts...>& parts) const {
      return front(*row, std::index_sequence_for<Parts...>()) < parts;
    }
    template <class... Parts>
    bool operator()(const std::tuple<Parts...>& parts, const row_ptr& row) const {
      return parts < front(*row, std::index_sequence_for<Parts...>());
    }
  };

  std::set<row_ptr, by_index> rows_;
};

template <class Row>
struct no_index {
  void add(const std::shared_ptr<const Row>&) {}
  void drop(const std::shared_ptr<const Row>&) {}
  void clear() {}
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

  // In order of the whole index, by so many of its first members as are given (views of texts).
  template <class... Parts>
  std::vector<row_ptr> find_by(const Parts&... parts) const
    requires indexed_row<Row>
  {
    std::lock_guard lock(mutex_);
    return index_.find(std::string_view(parts)...);
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
    if (row != nullptr) index_.drop(row);
    if (place != nullptr) index_.add(place);
    return row;
  }
  row_ptr erase(const object_key& key) {
    std::lock_guard lock(mutex_);
    auto node = rows_.extract(key);
    if (!node) return nullptr;
    if (node.mapped() != nullptr) index_.drop(node.mapped());
    return std::move(node.mapped());
  }
  std::map<object_key, row_ptr> replace(std::map<object_key, row_ptr> rows) {
    std::lock_guard lock(mutex_);
    rows_.swap(rows);
    index_.clear();
    for (const auto& [key, row] : rows_) index_.add(row);
    return rows;
  }

 private:
  mutable std::mutex mutex_;
  std::map<object_key, row_ptr> rows_;
  std::conditional_t<indexed_row<Row>, row_index<Row>, no_index<Row>> index_;
};

}  // namespace braidmq::k8s
