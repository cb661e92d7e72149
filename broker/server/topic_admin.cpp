#include "server/topic_admin.hpp"

#include <algorithm>
#include <utility>

#include "server/broker.hpp"
#include "server/topic_settings.hpp"

namespace braidmq::server {
namespace {

constexpr std::size_t largest_page = 1'000;

topic_description describe(const metadata::topic_image& topic, std::int32_t replication_factor) {
  return {topic.name,          topic.id,           topic.partitions, replication_factor, topic.configs,
          topic.created_index, topic.changed_index};
}

io::duration left(broker& of, io::time_point deadline) {
  return std::max(deadline - of.environment().clock.now(), io::duration::zero());
}

// Goes on, on the metadata executor, when the image holds all that was acknowledged: to an older one a topic that
// exists is unknown.
template <class Next>
void when_current(broker& of, io::duration timeout, topic_admin::described done, Next next) {
  of.controller().when_current(timeout,
                               [done = std::move(done), next = std::move(next)](const status& current) mutable {
                                 if (!current) return done(tl::unexpected(current.error()));
                                 next(std::move(done));
                               });
}

// Waits until the braid is as the metadata log says at `index`.
void when_applied(broker& of, topic_description topic, std::uint64_t index, io::time_point deadline,
                  topic_admin::described done) {
  of.environment().braid.post([&of, topic = std::move(topic), index, deadline, done = std::move(done)]() mutable {
    const model::topic_id id = topic.id;
    of.braid().when_applied(id, index, left(of, deadline),
                            [topic = std::move(topic), done = std::move(done)](const status& applied) mutable {
                              if (!applied) return done(tl::unexpected(applied.error()));
                              done(std::move(topic));
                            });
  });
}

status check_changed_configs(const std::map<std::string, std::optional<std::string>>& configs,
                             const metadata::topic_image& topic, std::int32_t replication_factor) {
  for (const auto& [name, value] : configs) {
    const topic_config_rule* rule = find_topic_config(name);
    if (rule == nullptr) {
      // What a later version has set can be taken away by this one.
      if (!value && topic.configs.contains(name)) continue;
      return unknown_topic_config(name);
    }
    if (value) BRAID_TRY_VOID(check_topic_config(*rule, *value, replication_factor));
  }
  return {};
}

}  // namespace

void topic_admin::create(topic_creation wanted, io::duration timeout, described done) {
  const io::time_point deadline = broker_.environment().clock.now() + timeout;
  auto go = [this, wanted = std::move(wanted), deadline](described when_done) mutable {
    create_now(std::move(wanted), deadline, std::move(when_done));
  };
  when_current(broker_, timeout, std::move(done), std::move(go));
}

void topic_admin::create_now(topic_creation wanted, io::time_point deadline, described done) {
  metadata::controller& controller = broker_.controller();
  const std::int32_t replicas = controller.replication_factor();
  metadata::new_topic topic{std::move(wanted.name), wanted.partitions, wanted.replication_factor,
                            std::move(wanted.configs)};
  status checked = check_topic_configs(topic.configs, replicas);
  if (checked && wanted.validate_only) checked = controller.check_topic(topic, *broker_.image());
  if (!checked) return done(tl::unexpected(checked.error()));
  if (wanted.validate_only) {
    const std::int32_t partitions = topic.partitions == -1 ? broker_.options().default_partitions : topic.partitions;
    return done(topic_description{std::move(topic.name), {}, partitions, replicas, std::move(topic.configs)});
  }
  controller.create_topic(std::move(topic), left(broker_, deadline),
                          [this, deadline, replicas, done = std::move(done)](auto created) mutable {
                            if (!created) return done(tl::unexpected(created.error()));
                            const std::uint64_t index = (*created)->created_index;
                            when_applied(broker_, describe(**created, replicas), index, deadline, std::move(done));
                          });
}

void topic_admin::alter(topic_alteration wanted, io::duration timeout, described done) {
  const io::time_point deadline = broker_.environment().clock.now() + timeout;
  auto go = [this, wanted = std::move(wanted), deadline](described when_done) mutable {
    alter_now(std::move(wanted), deadline, std::move(when_done));
  };
  when_current(broker_, timeout, std::move(done), std::move(go));
}

void topic_admin::alter_now(topic_alteration wanted, io::time_point deadline, described done) {
  metadata::controller& controller = broker_.controller();
  const std::int32_t replicas = controller.replication_factor();
  metadata::topic_change change{std::move(wanted.name), wanted.id, wanted.partitions, std::move(wanted.configs)};
  const metadata::image_ptr image = broker_.image();
  const auto topic = metadata::controller::find_topic(change.name, change.id, *image);
  if (!topic) return done(tl::unexpected(topic.error()));
  if (const status checked = check_changed_configs(change.configs, **topic, replicas); !checked) {
    return done(tl::unexpected(checked.error()));
  }
  if (wanted.validate_only) {
    const auto after = controller.check_change(change, *image);
    if (!after) return done(tl::unexpected(after.error()));
    return done(describe(*after, replicas));
  }
  controller.alter_topic(std::move(change), left(broker_, deadline),
                         [this, deadline, replicas, done = std::move(done)](auto altered) mutable {
                           if (!altered) return done(tl::unexpected(altered.error()));
                           const std::uint64_t index = (*altered)->changed_index;
                           when_applied(broker_, describe(**altered, replicas), index, deadline, std::move(done));
                         });
}

void topic_admin::remove(std::string name, std::optional<model::topic_id> id, io::duration timeout, described done) {
  const io::time_point deadline = broker_.environment().clock.now() + timeout;
  auto go = [this, name = std::move(name), id, deadline](described when_done) mutable {
    const auto topic = metadata::controller::find_topic(name, id, *broker_.image());
    if (!topic) return when_done(tl::unexpected(topic.error()));
    // By id from here on: a topic that is made under the name meanwhile is another one.
    auto named = [name = std::move(name), when_done = std::move(when_done)](result<topic_description> gone) mutable {
      if (!gone && gone.error().code == metadata::errc::unknown_topic_id) {
        return when_done(fail(metadata::errc::unknown_topic, fmt::format("topic '{}'", name)));
      }
      when_done(std::move(gone));
    };
    remove_now((*topic)->id, deadline, std::move(named));
  };
  when_current(broker_, timeout, std::move(done), std::move(go));
}

void topic_admin::remove(const model::topic_id& id, io::duration timeout, described done) {
  const io::time_point deadline = broker_.environment().clock.now() + timeout;
  auto go = [this, id, deadline](described when_done) mutable { remove_now(id, deadline, std::move(when_done)); };
  when_current(broker_, timeout, std::move(done), std::move(go));
}

void topic_admin::remove_now(const model::topic_id& id, io::time_point deadline, described done) {
  const std::int32_t replicas = broker_.controller().replication_factor();
  broker_.controller().delete_topic(
      id, left(broker_, deadline),
      [this, deadline, replicas, done = std::move(done)](result<metadata::controller::deleted_topic> deleted) mutable {
        if (!deleted) return done(tl::unexpected(deleted.error()));
        when_applied(broker_, describe(*deleted->topic, replicas), deleted->index, deadline, std::move(done));
      });
}

std::optional<topic_description> topic_admin::get(std::string_view name) const {
  const metadata::image_ptr image = broker_.image();
  const metadata::topic_image* found = image->find(name);
  if (found == nullptr) return std::nullopt;
  return describe(*found, broker_.controller().replication_factor());
}

std::optional<topic_description> topic_admin::get(const model::topic_id& id) const {
  const metadata::image_ptr image = broker_.image();
  const metadata::topic_image* found = image->find(id);
  if (found == nullptr) return std::nullopt;
  return describe(*found, broker_.controller().replication_factor());
}

topic_page topic_admin::list(std::string_view after, std::size_t limit) const {
  limit = std::clamp<std::size_t>(limit, 1, largest_page);
  const metadata::image_ptr image = broker_.image();
  topic_page page;
  page.metadata_index = image->index();
  for (auto at = image->topics().upper_bound(after); at != image->topics().end(); ++at) {
    if (page.topics.size() == limit) {
      page.next = page.topics.back().name;
      break;
    }
    page.topics.push_back(describe(*at->second, broker_.controller().replication_factor()));
  }
  return page;
}

}  // namespace braidmq::server
