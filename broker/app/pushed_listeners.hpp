// Listeners that open when their advertised address is known: it is told by HTTP, kept in the broker's registration in
// the metadata log, and so known at once when the broker starts again.
//
// Threads: add() before the shards run; on_image() on the metadata executor; missing() from anywhere.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "metadata/image.hpp"
#include "net/tcp_listener.hpp"

namespace braidmq::app {

class pushed_listeners {
 public:
  // `listener` is bound, lives until on_image() is called no more, and listens from when `name` has an address.
  void add(std::string name, net::tcp_listener& listener);

  void on_image(const metadata::image& image, model::broker_id self, const uuid& incarnation);

  // Why which listener is not open, in words; empty when all are.
  std::vector<std::string> missing() const;

 private:
  enum class state { unknown, opening, open, failed };
  struct entry {
    std::string name;
    net::tcp_listener* listener = nullptr;
    state is = state::unknown;
    std::string why;
  };
  // Outlives this object in callbacks of listeners.
  struct shared {
    mutable std::mutex mutex;
    std::vector<entry> entries;
  };

  std::shared_ptr<shared> shared_ = std::make_shared<shared>();
};

}  // namespace braidmq::app
