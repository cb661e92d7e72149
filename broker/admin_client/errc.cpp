#include "admin_client/errc.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace braidmq::admin_client {
namespace {

struct row {
  errc code;
  std::string_view wire_name;
  int status;  // of HTTP; 0: no broker says it
  std::string_view words;
  bool transient = false;
};

constexpr std::array<row, 17> rows{{
    {errc::unreachable, "", 0, "broker not reachable", true},
    {errc::timed_out, "", 0, "no whole answer of the broker, outcome unknown", true},
    {errc::bad_answer, "", 0, "not an answer of a broker"},
    {errc::unknown_topic_or_partition, "UNKNOWN_TOPIC_OR_PARTITION", 404, "unknown topic"},
    {errc::topic_already_exists, "TOPIC_ALREADY_EXISTS", 409, "topic exists"},
    {errc::unknown_topic_id, "UNKNOWN_TOPIC_ID", 409, "topic has another id"},
    {errc::invalid_topic_exception, "INVALID_TOPIC_EXCEPTION", 422, "invalid topic name"},
    {errc::invalid_partitions, "INVALID_PARTITIONS", 422, "invalid number of partitions"},
    {errc::invalid_replication_factor, "INVALID_REPLICATION_FACTOR", 422, "invalid replication factor"},
    {errc::invalid_config, "INVALID_CONFIG", 422, "invalid config"},
    {errc::invalid_request, "INVALID_REQUEST", 400, "invalid request"},
    {errc::cluster_authorization_failed, "CLUSTER_AUTHORIZATION_FAILED", 401, "not authorized"},
    {errc::not_controller, "NOT_CONTROLLER", 503, "no controller here", true},
    {errc::request_timed_out, "REQUEST_TIMED_OUT", 504, "timed out, outcome unknown", true},
    {errc::not_found, "NOT_FOUND", 404, "not found"},
    {errc::conflict, "CONFLICT", 409, "conflict"},
    {errc::refused, "UNKNOWN_SERVER_ERROR", 500, "refused by the broker"},
}};

const row& row_of(errc code) {
  const auto found = std::ranges::find(rows, code, &row::code);
  return found == rows.end() ? rows.back() : *found;
}

class admin_client_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "admin_client"; }
  std::string message(int value) const override { return std::string(row_of(static_cast<errc>(value)).words); }
};

}  // namespace

std::error_code make_error_code(errc code) {
  static const admin_client_category category;
  return {static_cast<int>(code), category};
}

std::string_view wire_name(errc code) {
  return row_of(code).wire_name;
}

int http_status(errc code) {
  return row_of(code).status;
}

errc errc_of(std::string_view wire_name) {
  if (wire_name.empty()) return errc::bad_answer;
  const auto found = std::ranges::find(rows, wire_name, &row::wire_name);
  return found == rows.end() ? errc::refused : found->code;
}

bool is_transient(errc code) {
  return row_of(code).transient;
}

}  // namespace braidmq::admin_client
