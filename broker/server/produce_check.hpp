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

// Gives way to others in between. An atomic part is refused whole here, when one of its slices is. `request` outlives
// the task.
runtime::task<checked_produce> check_produce(request_ptr context, const protocol::produce_request* request,
                                             metadata::image_ptr image);

// The image that the request is judged by. One that has an atomic part waits for topics that are not known yet.
runtime::task<metadata::image_ptr> image_for(request_ptr context, const protocol::produce_request* request,
                                             io::duration patience);

void refuse(protocol::produce_response::partition_produce_response& answer, protocol::error_code code,
            std::string message);

}  // namespace braidmq::server
