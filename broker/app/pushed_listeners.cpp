#include "app/pushed_listeners.hpp"

#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace braidmq::app {

void pushed_listeners::add(std::string name, net::tcp_listener& listener) {
  shared_->entries.push_back({std::move(name), &listener, state::unknown, {}});
}

void pushed_listeners::on_image(const metadata::image& image, model::broker_id self, const uuid& incarnation) {
  const auto registered = image.brokers().find(self);
  if (registered == image.brokers().end() || registered->second.incarnation != incarnation) return;
  const std::scoped_lock lock(shared_->mutex);
  for (std::size_t i = 0; i < shared_->entries.size(); ++i) {
    entry& one = shared_->entries[i];
    const metadata::advertised_listener* told = registered->second.find(one.name);
    // One that failed is tried again with each change of the registration's image.
    if (told == nullptr || one.is == state::opening || one.is == state::open) continue;
    one.is = state::opening;
    one.listener->listen([shared = shared_, i](status listens) {
      const std::scoped_lock inner(shared->mutex);
      entry& opened = shared->entries[i];
      opened.is = listens ? state::open : state::failed;
      opened.why = listens ? std::string() : listens.error().to_string();
      if (listens)
        spdlog::info("listener {} is open: its address is known", opened.name);
      else
        spdlog::error("listener {} cannot open: {}", opened.name, opened.why);
    });
  }
}

std::vector<std::string> pushed_listeners::missing() const {
  std::vector<std::string> words;
  const std::scoped_lock lock(shared_->mutex);
  for (const entry& one : shared_->entries) {
    if (one.is == state::unknown) {
      words.push_back(
          fmt::format("listener {0} is closed: its advertised address is not known yet; "
                      "PUT /v1/listeners/{0} tells it",
                      one.name));
    } else if (one.is != state::open) {
      words.push_back(fmt::format("listener {} is not open yet{}{}", one.name, one.why.empty() ? "" : ": ", one.why));
    }
  }
  return words;
}

}  // namespace braidmq::app
