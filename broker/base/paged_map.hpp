// A sorted map whose rows lie in pages, for state that is saved while it goes on changing. A copy of the map shares all
// pages and costs one pointer for each; whoever changes a row of a shared page changes a copy of that page. So a saver
// holds the rows of one moment, and apply pays at most one page of copying for the first change of each.
//
// Threads: one owner changes the map. A copy may be read on another thread, but must be destroyed by the owner: whether
// a page is shared is seen from its count alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace braidmq {

template <class Key, class Row, std::size_t page_rows = 128>
class paged_map {
  static_assert(page_rows >= 2);

 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t pages() const { return pages_.size(); }

  const Row* find(const Key& key) const {
    const std::size_t at = page_of(key);
    if (at == pages_.size()) return nullptr;
    const auto row = place_in(pages_[at]->rows, key);
    return row != pages_[at]->rows.end() && row->first == key ? &row->second : nullptr;
  }

  // The row of `key`, made when it is not there. Valid until the next change of the map.
  Row& edit(const Key& key) {
    if (pages_.empty()) pages_.push_back(std::make_shared<page>());
    std::size_t at = std::min(page_of(key), pages_.size() - 1);
    page& found = own(at);
    const auto row = place_in(found.rows, key);
    if (row != found.rows.end() && row->first == key) return row->second;
    ++size_;
    if (found.rows.size() < page_rows) return found.rows.emplace(row, key, Row{})->second;
    split(at);
    if (pages_[at]->rows.back().first < key) ++at;
    auto& rows = pages_[at]->rows;
    return rows.emplace(place_in(rows, key), key, Row{})->second;
  }

  bool erase(const Key& key) {
    const std::size_t at = page_of(key);
    if (at == pages_.size()) return false;
    const auto& shared = pages_[at]->rows;
    const auto shared_row = place_in(shared, key);
    if (shared_row == shared.end() || shared_row->first != key) return false;
    const auto offset = shared_row - shared.begin();
    auto& rows = own(at).rows;
    rows.erase(rows.begin() + offset);
    if (rows.empty()) pages_.erase(pages_.begin() + static_cast<std::ptrdiff_t>(at));
    --size_;
    return true;
  }

  // In the order of the keys.
  template <class F>
  void for_each(F&& see) const {
    for (const auto& one : pages_) {
      for (const auto& [key, row] : one->rows) see(key, row);
    }
  }

 private:
  struct page {
    std::vector<std::pair<Key, Row>> rows;  // sorted, never empty but in an empty map
  };

  template <class Rows>
  static auto place_in(Rows& rows, const Key& key) {
    return std::lower_bound(rows.begin(), rows.end(), key,
                            [](const auto& row, const Key& wanted) { return row.first < wanted; });
  }

  // The first page whose last key is not below `key`; pages_.size() when there is none.
  std::size_t page_of(const Key& key) const {
    const auto found = std::lower_bound(pages_.begin(), pages_.end(), key, [](const auto& one, const Key& wanted) {
      return one->rows.empty() || one->rows.back().first < wanted;
    });
    return static_cast<std::size_t>(found - pages_.begin());
  }

  page& own(std::size_t at) {
    if (pages_[at].use_count() > 1) pages_[at] = std::make_shared<page>(*pages_[at]);
    return *pages_[at];
  }

  // A page that is full at its end is left full: keys often rise.
  void split(std::size_t at) {
    auto& rows = pages_[at]->rows;
    const bool is_last = at + 1 == pages_.size();
    const auto half = rows.begin() + static_cast<std::ptrdiff_t>(is_last ? rows.size() - 1 : rows.size() / 2);
    auto upper = std::make_shared<page>();
    upper->rows.assign(std::make_move_iterator(half), std::make_move_iterator(rows.end()));
    rows.erase(half, rows.end());
    pages_.insert(pages_.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(upper));
  }

  std::vector<std::shared_ptr<page>> pages_;
  std::size_t size_ = 0;
};

}  // namespace braidmq
