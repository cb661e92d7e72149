// What is checked of a Produce request before it goes to the braid: each slice by length, magic, CRC, counts,
// timestamps and codec. What passes becomes one unit, the atomic part of the request first; what does not is answered.
//
// Owner: one request, on the connection's shard.
#pragma once

#include <vector>

#include "braid/entry.hpp"
#include "protocol/generated/produce.hpp"
#include "server/atomic_produce.hpp"
#include "server/request_context.hpp"
#include "server/topic_settings.hpp"

namespace braidmq::server {

inline constexpr std::int16_t first_produce_with_topic_ids = 13;

// Where the outcome of a slice goes in the response.
struct slice_place {
  std::size_t topic = 0;
  std::size_t partition = 0;
  bool stamped = false;  // LogAppendTime: the response names the time
};

struct checked_produce {
  protocol::produce_response response;
  braid::produce_unit unit;
  std::vector<slice_place> places;         // of the unit's slices
  std::vector<slice_place> atomic_places;  // of the atomic part: in the unit all of them, or none when one is refused
  std::vector<expected_topic> expected;    // topics of the atomic part

  // Turns the answers of the atomic part into those of a refusal, when one of them has an error. True when that is so.
  bool refuse_atomic_part(const metadata::image& names);
};

// Whether a slice of this topic belongs to the request's atomic part. Null: a topic that is not known.
bool is_atomic(const protocol::produce_request& request, const metadata::topic_image* topic,
               const broker_options& options);

// Checks one request, in steps: very many batches that decode to very much must leave the shard to others in between.
// An atomic part is refused whole, when one of its slices is. `request` outlives the check.
class produce_check {
 public:
  produce_check(request_ptr context, const protocol::produce_request& request, metadata::image_ptr image);

  // False when there is more to do.
  bool step();
  // After that.
  checked_produce take() { return std::move(checked_); }

 private:
  using topic_data = protocol::produce_request::topic_produce_data;
  struct part {
    std::vector<braid::append_slice> slices;
    std::vector<slice_place> places;
  };

  void begin_topic(const topic_data& topic);
  void check(const protocol::produce_request::partition_produce_data& partition);
  void refuse_slice(protocol::error_code code, std::string message);
  void compose();

  request_ptr context_;
  const protocol::produce_request& request_;
  metadata::image_ptr image_;
  std::int64_t now_ms_;
  std::size_t decoded_left_;
  part atomic_;
  part ordinary_;
  checked_produce checked_;

  // Where it stands.
  std::size_t topic_ = 0;
  std::size_t partition_ = 0;
  const metadata::topic_image* found_ = nullptr;  // the topic; null: not known
  topic_settings settings_;
  bool is_atomic_ = false;
};

// Whether the request has an atomic part with topics that are not known (yet).
bool lacks_topics(const request_context& context, const protocol::produce_request& request,
                  const metadata::image& image);
// The image when they are, or the newest one when patience has ended. `request` outlives the task.
runtime::task<metadata::image_ptr> image_with_topics(request_ptr context, const protocol::produce_request* request,
                                                     io::duration patience);

void refuse(protocol::produce_response::partition_produce_response& answer, protocol::error_code code,
            std::string message);

}  // namespace braidmq::server
