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

class checker {
 public:
  checker(request_ptr context, const protocol::produce_request& request, metadata::image_ptr image)
      : context_(std::move(context)),
        request_(request),
        image_(std::move(image)),
        now_ms_(context_->broker.environment().clock.wall_ms()),
        decoded_left_(least_decoded_bytes + decoded_times * bytes_of(request)) {}

  // A request may hold very many batches that decode to very much: the loop is given to others in between.
  runtime::task<checked_produce> run() {
    for (const auto& topic : request_.topic_data) {
      auto& answers = checked_.response.responses.emplace_back();
      answers.name = topic.name;
      answers.topic_id = topic.topic_id;
      const metadata::topic_image* found = find(*image_, topic, context_->version);
      part& into = is_atomic(request_, found, context_->broker.options()) ? atomic_ : ordinary_;
      if (found != nullptr && &into == &atomic_) checked_.expected.push_back({found->id, found->changed_index});
      for (const auto& partition : topic.partition_data) {
        answers.partition_responses.emplace_back().index = partition.index;
        const slice_place place{checked_.response.responses.size() - 1, answers.partition_responses.size() - 1};
        if (&into == &atomic_) checked_.atomic_places.push_back(place);
        if (found == nullptr) {
          const bool by_id = context_->version >= first_produce_with_topic_ids;
          refuse(answers.partition_responses.back(),
                 by_id ? error_code::unknown_topic_id : error_code::unknown_topic_or_partition, "no such topic");
        } else {
          check(*found, partition, place, into);
        }
        if (decoded_since_yield_ >= yield_bytes) {
          decoded_since_yield_ = 0;
          co_await give_way(context_);
        }
      }
    }
    compose();
    co_return std::move(checked_);
  }

 private:
  struct part {
    std::vector<braid::append_slice> slices;
    std::vector<slice_place> places;
  };

  void check(const metadata::topic_image& topic, const protocol::produce_request::partition_produce_data& partition,
             slice_place place, part& into) {
    partition_response& answer = checked_.response.responses.back().partition_responses.back();
    if (partition.index.value() < 0 || partition.index.value() >= topic.partitions) {
      return refuse(answer, error_code::unknown_topic_or_partition,
                    fmt::format("topic '{}' has {} partitions", topic.name, topic.partitions));
    }
    if (!partition.records) return refuse(answer, error_code::invalid_record, "no record batch");
    if (decoded_left_ == 0) {
      return refuse(answer, error_code::message_too_large,
                    "the batches of this request decode to too much in all: send them in several");
    }
    const topic_settings settings = settings_of(topic, context_->broker.options());
    model::validation_limits limits = settings.validation(now_ms_, context_->version >= first_version_with_zstd);
    limits.max_decoded_bytes = std::min(limits.max_decoded_bytes, decoded_left_);
    const auto batch = model::validate_produce_records(*partition.records, limits);
    // One that is refused may have been decoded up to the limit.
    const std::size_t decoded = std::min(batch ? batch->decoded_bytes : limits.max_decoded_bytes, decoded_left_);
    decoded_left_ -= decoded;
    decoded_since_yield_ += decoded;
    if (!batch) return refuse(answer, wire_error(batch.error().code), batch.error().to_string());
    if (batch->header.is_transactional()) {
      return refuse(answer, error_code::invalid_txn_state, "transactions are not available in this version of BraidMQ");
    }
    place.stamped = settings.timestamps == model::timestamp_type::log_append_time;
    into.slices.push_back({{topic.id, partition.index}, stamped(*partition.records, *batch, settings, now_ms_)});
    into.places.push_back(place);
  }

  void compose() {
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

  request_ptr context_;
  const protocol::produce_request& request_;
  metadata::image_ptr image_;
  std::int64_t now_ms_;
  std::size_t decoded_left_;
  std::size_t decoded_since_yield_ = 0;
  part atomic_;
  part ordinary_;
  checked_produce checked_;
};

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

runtime::task<checked_produce> check_produce(request_ptr context, const protocol::produce_request* request,
                                             metadata::image_ptr image) {
  checker check(std::move(context), *request, std::move(image));
  co_return co_await check.run();
}

runtime::task<metadata::image_ptr> image_for(request_ptr context, const protocol::produce_request* request,
                                             io::duration patience) {
  const metadata::image_ptr image = context->broker.image();
  bool has_atomic_part = false;
  std::vector<topic_data> unknown;
  for (const topic_data& topic : request->topic_data) {
    const metadata::topic_image* found = find(*image, topic, context->version);
    has_atomic_part = has_atomic_part || is_atomic(*request, found, context->broker.options());
    if (found == nullptr) unknown.push_back({topic.name, topic.topic_id, {}});
  }
  if (!has_atomic_part || unknown.empty()) co_return image;
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
