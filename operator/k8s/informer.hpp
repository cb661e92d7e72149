// A kind, watched: a cache of rows that follows the API server, and a callback for what changed. managedFields are
// dropped before a row is made. What vanished while nobody watched is told as deleted, with the last row known.
//
// Threads: start() and stop() by the owner; the callbacks come on the informer's own thread; the rest from any.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "k8s/cache.hpp"
#include "k8s/reflector.hpp"

namespace braidmq::k8s {

class informer_base {
 public:
  virtual ~informer_base() = default;
  virtual void start() = 0;
  // Within a second, but for a list under way: that takes as long as its client lets it (see http_client::shut_down).
  // The cache stays.
  virtual void stop() = 0;
  virtual void begin_stop() = 0;  // without waiting, so that of many all end at the same time
  virtual bool has_synced() const = 0;
  virtual reflector_figures read_figures() const = 0;
  virtual std::optional<std::string> stuck() const = 0;
  virtual const std::string& plural() const = 0;
};

template <class Row>
class informer final : public informer_base, private reflector_sink {
  static_assert(std::is_base_of_v<row_header, Row>);

 public:
  using row_ptr = typename cache<Row>::row_ptr;
  // What an object comes to; the header is filled in by the informer. Should not throw: an object whose row cannot be
  // made is counted, and its old row stays.
  using to_row = std::function<Row(const json& object)>;
  // One of the two is null: added, deleted.
  using change_handler = std::function<void(const row_ptr& before, const row_ptr& after)>;

  informer(client& api, reflector_options options, to_row convert, const io::clock& clock = io::system_clock(),
           io::random_source& random = io::system_random())
      : plural_(options.type.plural),
        convert_(std::move(convert)),
        reflector_(api, std::move(options), *this, clock, random) {}
  ~informer() override { informer::stop(); }

  // Before start().
  void on_change(change_handler handler) { handlers_.push_back(std::move(handler)); }

  void start() override {
    thread_ = std::thread([this]() noexcept { reflector_.run(stop_); });  // tidy: allow(thread): one per watch
  }
  void begin_stop() override { stop_.raise(); }
  void stop() override {
    begin_stop();
    if (thread_.joinable()) thread_.join();
  }

  const cache<Row>& rows() const { return rows_; }
  bool has_synced() const override { return reflector_.read_figures().synced; }
  reflector_figures read_figures() const override { return reflector_.read_figures(); }
  std::optional<std::string> stuck() const override { return reflector_.stuck(); }
  const std::string& plural() const override { return plural_; }
  std::uint64_t rows_refused() const { return refused_; }

  // For a caller with a thread of its own, and for tests.
  void run(stop_signal& stop) { reflector_.run(stop); }

 private:
  row_ptr make_row(json& object) {
    if (const auto metadata = object.find("metadata"); metadata != object.end() && metadata->is_object()) {
      metadata->erase("managedFields");
    }
    try {
      auto row = std::make_shared<Row>(convert_(object));
      row->key = key_of(object);
      row->uid = uid_of(object);
      row->resource_version = resource_version_of(object);
      return row;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception&) {
      ++refused_;
      return nullptr;
    }
  }

  void tell(const row_ptr& before, const row_ptr& after) {
    for (const auto& handler : handlers_) handler(before, after);
  }

  void list_started() override { listed_.clear(); }

  void list_item(json&& object) override {
    const object_key key = key_of(object);
    // An object that is as it was keeps its row: nobody hears of a change that is none.
    row_ptr old = rows_.find(key);
    if (old && old->uid == uid_of(object) && old->resource_version == resource_version_of(object)) {
      listed_[key] = std::move(old);
      return;
    }
    row_ptr row = make_row(object);
    if (!row) row = std::move(old);
    if (row) listed_[key] = std::move(row);
  }

  void list_finished() override {
    std::map<object_key, row_ptr> now = listed_;
    const auto before = rows_.replace(std::exchange(listed_, {}));
    for (const auto& [key, row] : before) {
      const auto found = now.find(key);
      if (found == now.end()) {
        tell(row, nullptr);
      } else if (found->second->uid != row->uid) {
        tell(row, nullptr);  // another object under the same name is no change of the first
        tell(nullptr, found->second);
      } else if (found->second != row) {
        tell(row, found->second);
      }
    }
    for (const auto& [key, row] : now) {
      if (!before.contains(key)) tell(nullptr, row);
    }
  }

  void changed(json&& object) override {
    row_ptr row = make_row(object);
    if (!row) return;
    const row_ptr before = rows_.put(row->key, row);
    if (before && before->uid != row->uid) {
      tell(before, nullptr);
      tell(nullptr, row);
    } else {
      tell(before, row);
    }
  }

  void deleted(json&& object) override {
    row_ptr before = rows_.erase(key_of(object));
    if (before) tell(before, nullptr);
  }

  const std::string plural_;
  const to_row convert_;
  std::vector<change_handler> handlers_;
  cache<Row> rows_;
  std::map<object_key, row_ptr> listed_;
  std::atomic<std::uint64_t> refused_{0};
  reflector reflector_;
  stop_signal stop_;
  std::thread thread_;  // tidy: allow(thread): one per watch
};

}  // namespace braidmq::k8s
