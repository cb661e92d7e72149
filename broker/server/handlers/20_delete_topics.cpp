// DeleteTopics, versions 1 to 6: by name, from version 6 on also by id. Answers when the braid has applied the
// deletion.
#include <algorithm>
#include <map>

#include "server/error_mapping.hpp"
#include "server/handlers/handlers.hpp"

namespace braidmq::server::handlers {
namespace {

using protocol::delete_topics_request;
using protocol::error_code;
using deleted_topic = protocol::delete_topics_response::deletable_topic_result;
using topic_wish = delete_topics_request::delete_topic_state;

constexpr std::int16_t first_version_with_ids = 6;

std::vector<topic_wish> wishes_of(delete_topics_request& request, std::int16_t version) {
  if (version >= first_version_with_ids) return std::move(request.topics);
  std::vector<topic_wish> wishes;
  wishes.reserve(request.topic_names.size());
  for (std::string& name : request.topic_names) wishes.push_back({std::move(name), {}});
  return wishes;
}

void refuse(deleted_topic& answer, error_code code, std::string message) {
  answer.error_code = code;
  answer.error_message = std::move(message);
}

runtime::task<result<topic_description>> remove(request_ptr context, topic_wish wish, io::duration timeout) {
  auto ask = [&context, &wish, timeout](topic_admin::described done) {
    topic_admin& topics = context->broker.topics();
    if (wish.name)
      topics.remove(*wish.name, std::nullopt, timeout, std::move(done));
    else
      topics.remove(wish.topic_id, timeout, std::move(done));
  };
  co_return co_await runtime::await_callback<result<topic_description>>(ask);
}

}  // namespace

answer_of<protocol::delete_topics_response> delete_topics(request_ptr context,
                                                          protocol::delete_topics_request request) {
  context->accept();  // slow, and nothing that follows on the connection depends on its place
  protocol::delete_topics_response response;
  const request_deadline deadline(*context, bounded_timeout(request.timeout_ms));
  std::map<std::pair<std::string, model::topic_id>, int> seen;
  for (topic_wish& wish : wishes_of(request, context->version)) {
    const int times = ++seen[{wish.name.value_or(""), wish.topic_id}];
    if (times > 2) continue;  // has its refusal
    deleted_topic answer;
    answer.name = wish.name;
    answer.topic_id = wish.topic_id;
    if (wish.name && !wish.topic_id.is_zero()) {
      refuse(answer, error_code::invalid_request, "a topic is named by name or by id, not by both");
    } else if (!wish.name && wish.topic_id.is_zero()) {
      refuse(answer, error_code::invalid_request, "a topic without name and id");
    } else if (times > 1) {
      refuse(answer, error_code::invalid_request, "the topic stands in the request more than once");
    } else {
      const auto gone = co_await remove(context, std::move(wish), deadline.left());
      if (gone) {
        answer.name = gone->name;
        answer.topic_id = gone->id;
      } else {
        refuse(answer, wire_error(gone.error().code), gone.error().to_string());
      }
    }
    response.responses.push_back(std::move(answer));
  }
  co_return response;
}

}  // namespace braidmq::server::handlers
