// The values of types.hpp as JSON, both ways: the broker writes what the client reads, and the other way round. Answers
// may hold members that this version does not know; in requests they are refused.
// Errors: errc::invalid_request with the path of the member and what is expected.
#pragma once

#include <chrono>

#include <nlohmann/json_fwd.hpp>

#include "admin_client/errc.hpp"
#include "admin_client/types.hpp"
#include "base/result.hpp"

namespace braidmq::admin_client {

nlohmann::json to_json(const cluster_info& value);
nlohmann::json braids_to_json(const cluster_info& value);  // of GET /v1/braids
nlohmann::json to_json(const topic_info& value);
nlohmann::json to_json(const topic_page& value);
nlohmann::json to_json(const drain_state& value);
nlohmann::json to_json(const listener_info& value);
nlohmann::json to_json(const topic_creation& value);
nlohmann::json to_json(const topic_change& value);  // without the name, which stands in the path
nlohmann::json error_to_json(errc code, const std::string& message);

result<cluster_info> cluster_from_json(const nlohmann::json& from);
result<topic_info> topic_from_json(const nlohmann::json& from);
result<topic_page> page_from_json(const nlohmann::json& from);
result<drain_state> drain_from_json(const nlohmann::json& from);

result<topic_creation> creation_request(const nlohmann::json& from);
result<topic_change> change_request(const std::string& topic, const nlohmann::json& from);
result<std::chrono::milliseconds> drain_request(const nlohmann::json& from);
result<listener_info> listener_request(const std::string& name, const nlohmann::json& from);

}  // namespace braidmq::admin_client
