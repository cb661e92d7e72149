#include "server/produce_check.hpp"

#include <algorithm>
#include <utility>

#include "model/record_batch.hpp"
#include "server/error_mapping.hpp"
#include "server/topic_settings.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;
using partition_response = protocol::produce_response::partition_produce_response;
using topic_data = protocol::produce_request::topic_produce_data;

constexpr std::int16_t first_version_with_zstd = 7;
// What all batches of a request may decode to. The fixed part is what a single batch may; real records do not shrink to
// a fortieth.
constexpr std::size_t least_decoded_bytes = std::size_t{64} << 20U;
constexpr std::size_t decoded_times = 40;
constexpr std::size_t yield_bytes = std::size_t{4} << 20U;

// The batch as it goes to the log: the client's own bytes, but for what the broker has to stamp.
bytes stamped(const bytes& batch, const model::validated_batch& checked, const topic_settings& settings,
              std::int64_t now_ms) {
  const bool append_time = settings.timestamps == model::timestamp_type::log_append_time;
  if (!append_time && !checked.max_timestamp_is_wrong) return batch;
  std::vector<std::byte> copy(batch.view().begin(), batch.view().end());
  if (append_time)
    model::restamp_log_append_time(copy, now_ms);
  else
    model::restamp_max_timestamp(copy, checked.max_timestamp_ms);
  return bytes::take(std::move(copy));
}

std::size_t bytes_of(const protocol::produce_request& request) {
  std::size_t sum = 0;
  for (const auto& topic : request.topic_data) {
    for (const auto& one : topic.partition_data) sum += one.records ? one.records->size() : 0;
  }
  return sum;
}

const metadata::topic_image* find(const metadata::image& image, const topic_data& topic, std::int16_t version) {
  return version >= first_produce_with_topic_ids ? image.find(topic.topic_id) : image.find(topic.name);
}

// An unknown topic's name can be longer than any topic's. Cut between characters: it goes back in a string.
std::string shortened(const std::string& name) {
  constexpr std::size_t longest_name = 249;
  std::size_t end = std::min(longest_name, name.size());
  while (end > 0 && end < name.size() && (static_cast<unsigned char>(name[end]) & 0xc0U) == 0x80U) --end;
  return name.substr(0, end);
}

}  // namespace

bool is_atomic(const protocol::produce_request& request, const metadata::topic_image* topic,
               const broker_options& options) {
  if (request.atomic) return true;
  return topic == nullptr ? options.atomic_produce : settings_of(*topic, options).atomic;
}

void refuse(partition_response& answer, error_code code, std::string message) {
  answer.error_code = code;
  answer.base_offset = model::offset(-1);
  answer.error_message = std::move(message);
}

bool checked_produce::refuse_atomic_part(const metadata::image& names) {
  std::vector<partition_response*> slices;
  slices.reserve(atomic_places.size());
  for (const slice_place& place : atomic_places) {
    slices.push_back(&response.responses[place.topic].partition_responses[place.partition]);
  }
  return refuse_together(slices, [&](std::size_t place) {
    const auto& topic = response.responses[atomic_places[place].topic];
    std::string name = shortened(topic.name);
    if (name.empty()) {
      const metadata::topic_image* known = names.find(topic.topic_id);
      name = known == nullptr ? topic.topic_id.to_string() : known->name;
    }
    return fmt::format("partition {} of '{}'", slices[place]->index, name);
  });
}

produce_check::produce_check(request_ptr context, const protocol::produce_request& request, metadata::image_ptr image)
    : context_(std::move(context)),
      request_(request),
      image_(std::move(image)),
      now_ms_(context_->broker.environment().clock.wall_ms()),
      decoded_left_(least_decoded_bytes + decoded_times * bytes_of(request)) {}

bool produce_check::step() {
  const std::size_t decoded_left_before = decoded_left_;
  for (; topic_ < request_.topic_data.size(); ++topic_, partition_ = 0) {
    const topic_data& topic = request_.topic_data[topic_];
    if (checked_.response.responses.size() == topic_) begin_topic(topic);
    while (partition_ < topic.partition_data.size()) {
      check(topic.partition_data[partition_++]);
      if (decoded_left_before - decoded_left_ >= yield_bytes) return false;
    }
  }
  compose();
  return true;
}

void produce_check::begin_topic(const topic_data& topic) {
  auto& answers = checked_.response.responses.emplace_back();
  answers.name = topic.name;
  answers.topic_id = topic.topic_id;
  answers.partition_responses.reserve(topic.partition_data.size());
  const broker_options& options = context_->broker.options();
  found_ = find(*image_, topic, context_->version);
  is_atomic_ = is_atomic(request_, found_, options);
  if (found_ == nullptr) return;
  settings_ = settings_of(*found_, options);
  if (is_atomic_) checked_.expected.push_back({found_->id, found_->changed_index});
}

void produce_check::refuse_slice(error_code code, std::string message) {
  refuse(checked_.response.responses.back().partition_responses.back(), code, std::move(message));
}

void produce_check::check(const protocol::produce_request::partition_produce_data& partition) {
  auto& answers = checked_.response.responses.back().partition_responses;
  answers.emplace_back().index = partition.index;
  slice_place place{topic_, answers.size() - 1};
  if (is_atomic_) checked_.atomic_places.push_back(place);
  if (found_ == nullptr) {
    const bool by_id = context_->version >= first_produce_with_topic_ids;
    return refuse_slice(by_id ? error_code::unknown_topic_id : error_code::unknown_topic_or_partition, "no such topic");
  }
  if (partition.index.value() < 0 || partition.index.value() >= found_->partitions) {
    return refuse_slice(error_code::unknown_topic_or_partition,
                        fmt::format("topic '{}' has {} partitions", found_->name, found_->partitions));
  }
  if (!partition.records) return refuse_slice(error_code::invalid_record, "no record batch");
  if (decoded_left_ == 0) {
    return refuse_slice(error_code::message_too_large,
                        "the batches of this request decode to too much in all: send them in several");
  }
  model::validation_limits limits = settings_.validation(now_ms_, context_->version >= first_version_with_zstd);
  limits.max_decoded_bytes = std::min(limits.max_decoded_bytes, decoded_left_);
  const auto batch = model::validate_produce_records(*partition.records, limits);
  // One that is refused may have been decoded up to the limit.
  decoded_left_ -= std::min(batch ? batch->decoded_bytes : limits.max_decoded_bytes, decoded_left_);
  if (!batch) return refuse_slice(wire_error(batch.error().code), batch.error().to_string());
  if (batch->header.is_transactional()) {
    return refuse_slice(error_code::invalid_txn_state, "transactions are not available in this version of BraidMQ");
  }
  place.stamped = settings_.timestamps == model::timestamp_type::log_append_time;
  part& into = is_atomic_ ? atomic_ : ordinary_;
  into.slices.push_back({{found_->id, partition.index}, stamped(*partition.records, *batch, settings_, now_ms_)});
  into.places.push_back(place);
}

void produce_check::compose() {
  if (checked_.refuse_atomic_part(*image_)) {
    atomic_ = {};
    checked_.expected.clear();
  }
  checked_.unit.atomic_slices = atomic_.slices.size();
  checked_.unit.slices = std::move(atomic_.slices);
  checked_.places = std::move(atomic_.places);
  std::ranges::move(ordinary_.slices, std::back_inserter(checked_.unit.slices));
  std::ranges::move(ordinary_.places, std::back_inserter(checked_.places));
}

bool lacks_topics(const request_context& context, const protocol::produce_request& request,
                  const metadata::image& image) {
  bool lacks_some = false;
  bool has_atomic_part = false;
  for (const topic_data& topic : request.topic_data) {
    const metadata::topic_image* found = find(image, topic, context.version);
    lacks_some = lacks_some || found == nullptr;
    has_atomic_part = has_atomic_part || is_atomic(request, found, context.broker.options());
  }
  return lacks_some && has_atomic_part;
}

runtime::task<metadata::image_ptr> image_with_topics(request_ptr context, const protocol::produce_request* request,
                                                     io::duration patience) {
  const metadata::image_ptr image = context->broker.image();
  std::vector<topic_data> unknown;
  for (const topic_data& topic : request->topic_data) {
    if (find(*image, topic, context->version) == nullptr) unknown.push_back({topic.name, topic.topic_id, {}});
  }
  auto wait = [&context, &unknown, patience](unique_function<void(status)> done) {
    auto all_known = [unknown, version = context->version](const metadata::image& now) {
      return std::ranges::all_of(unknown, [&](const topic_data& one) { return find(now, one, version) != nullptr; });
    };
    context->broker.controller().when_image(std::move(all_known), patience, std::move(done));
  };
  static_cast<void>(co_await runtime::await_callback<status>(wait));
  co_return context->broker.image();
}

}  // namespace braidmq::server
