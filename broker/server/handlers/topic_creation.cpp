#include "server/handlers/topic_creation.hpp"

#include <utility>

namespace braidmq::server::handlers {

using created_topic = result<std::shared_ptr<const metadata::topic_image>>;

runtime::task<created_topic> create_and_wait(request_ptr context, metadata::new_topic topic, io::duration timeout) {
  const io::clock& clock = context->broker.environment().clock;
  const io::time_point deadline = clock.now() + timeout;
  auto create = [&context, &topic, timeout](unique_function<void(created_topic)> done) {
    context->broker.controller().create_topic(std::move(topic), timeout, std::move(done));
  };
  created_topic created = co_await runtime::await_callback<created_topic>(create);
  if (!created) co_return created;

  std::vector<model::topic_partition_id> partitions;
  for (std::int32_t p = 0; p < (*created)->partitions; ++p) {
    partitions.push_back({(*created)->id, model::partition_index(p)});
  }
  const io::duration left = std::max(deadline - clock.now(), io::duration::zero());
  auto wait = [partitions = std::move(partitions), left](braid::replica& braid,
                                                         unique_function<void(status)> done) mutable {
    braid.when_created(std::move(partitions), left, std::move(done));
  };
  const status applied = co_await on_braid<status>(context, std::move(wait));
  if (!applied) co_return tl::unexpected(applied.error());
  co_return created;
}

}  // namespace braidmq::server::handlers
