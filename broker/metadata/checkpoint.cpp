#include "metadata/checkpoint.hpp"

#include <utility>

#include "multiraft/checkpoint_records.hpp"
#include "protocol/generated/metadata_checkpoint.hpp"

namespace braidmq::metadata {
namespace {

// Kinds of frames. Each begins with the version of its record.
constexpr std::uint8_t state_frame = 1;
constexpr std::uint8_t topics_frame = 2;

constexpr std::size_t topics_per_frame = 64;

class pinned_image final : public multiraft::pinned_state {
 public:
  explicit pinned_image(image_ptr from) : image_(std::move(from)) {}

  raft::index index() const override { return raft::index(image_->index()); }
  void when_written(unique_function<void(status)> done) override { done({}); }
  std::vector<unique_function<status()>> take_syncs() override { return {}; }

  status write(multiraft::checkpoint_writer& to) const override {
    protocol::metadata_checkpoint_state head;
    head.cluster_id = image_->cluster_id();
    head.topics_index = static_cast<std::int64_t>(image_->topics_index());
    head.next_producer_id = image_->next_producer_id();
    head.topic_count = static_cast<std::int64_t>(image_->topics().size());
    for (const auto& [id, registration] : image_->brokers()) {
      auto& row = head.brokers.emplace_back();
      row.broker_id = id;
      row.incarnation = registration.incarnation;
      row.draining = registration.draining;
      for (const auto& [name, host, port] : registration.listeners) row.listeners.push_back({name, host, port});
      row.rack = registration.rack;
    }
    for (const auto& [id, index] : image_->deletions()) {
      head.deletions.push_back({id, static_cast<std::int64_t>(index)});
    }
    BRAID_TRY_VOID(multiraft::add_record(to, state_frame, head));

    protocol::metadata_checkpoint_topics part;
    for (const auto& [name, topic] : image_->topics()) {
      auto& row = part.topics.emplace_back();
      row.topic_name = name;
      row.topic_id = topic->id;
      row.partitions = topic->partitions;
      row.created_index = static_cast<std::int64_t>(topic->created_index);
      row.changed_index = static_cast<std::int64_t>(topic->changed_index);
      for (const auto& [key, value] : topic->configs) row.configs.push_back({key, value});
      if (part.topics.size() < topics_per_frame) continue;
      BRAID_TRY_VOID(multiraft::add_record(to, topics_frame, part));
      part.topics.clear();
    }
    return part.topics.empty() ? status() : multiraft::add_record(to, topics_frame, part);
  }

 private:
  image_ptr image_;
};

}  // namespace

// Puts an image together from frames.
class image_builder {
 public:
  explicit image_builder(raft::index index) { image_->index_ = index.value(); }

  // What is wrong with the frame; empty: nothing.
  result<std::string> add(const multiraft::record_frame& frame) {
    const auto taken = [this](const auto& record) { return take(record); };
    if (frame.kind == state_frame) return frame.as<protocol::metadata_checkpoint_state>(taken);
    if (frame.kind == topics_frame) return frame.as<protocol::metadata_checkpoint_topics>(taken);
    return frame.unknown();
  }

  result<image_ptr> finish(const multiraft::checkpoint_reader& from) {
    if (!has_head_ || topic_count_ != static_cast<std::int64_t>(image_->by_name_.size())) {
      return from.damaged("it lacks topics");
    }
    return image_ptr(std::move(image_));
  }

 private:
  std::string take(const protocol::metadata_checkpoint_state& record) {
    if (std::exchange(has_head_, true)) return "it has two heads";
    topic_count_ = record.topic_count;
    image_->cluster_id_ = record.cluster_id;
    image_->topics_index_ = static_cast<std::uint64_t>(record.topics_index);
    image_->next_producer_id_ = record.next_producer_id;
    for (const auto& row : record.brokers) {
      broker_registration registration{row.incarnation, row.draining, {}};
      for (const auto& one : row.listeners) registration.listeners.push_back({one.name, one.host, one.port});
      registration.rack = row.rack;
      image_->brokers_.emplace(row.broker_id, std::move(registration));
    }
    for (const auto& row : record.deletions) {
      image_->deletions_.emplace(row.topic_id, static_cast<std::uint64_t>(row.index));
    }
    return {};
  }

  std::string take(const protocol::metadata_checkpoint_topics& record) {
    for (const auto& row : record.topics) {
      topic_image topic{row.topic_name,
                        row.topic_id,
                        row.partitions,
                        {},
                        static_cast<std::uint64_t>(row.created_index),
                        static_cast<std::uint64_t>(row.changed_index)};
      for (const auto& config : row.configs) topic.configs.emplace(config.name, config.value);
      if (image_->find(topic.name) != nullptr || image_->find(topic.id) != nullptr) {
        return fmt::format("topic '{}' is there twice", topic.name);
      }
      image_->add(std::make_shared<const topic_image>(std::move(topic)));
    }
    return {};
  }

  std::shared_ptr<image> image_ = std::make_shared<image>();
  std::int64_t topic_count_ = 0;
  bool has_head_ = false;
};

std::unique_ptr<multiraft::pinned_state> pin_for_checkpoint(image_ptr from) {
  return std::make_unique<pinned_image>(std::move(from));
}

result<loaded_image> read_checkpoint(io::file_system& fs, const std::string& path, raft::group_id group) {
  BRAID_TRY(reader, multiraft::checkpoint_reader::open(fs, path, group));
  if (!reader) return loaded_image();
  image_builder built(reader->id().index);
  BRAID_TRY_VOID(
      multiraft::read_records(*reader, [&built](const multiraft::record_frame& frame) { return built.add(frame); }));
  BRAID_TRY(image, built.finish(*reader));
  return loaded_image{std::move(image), reader->id().term};
}

}  // namespace braidmq::metadata
