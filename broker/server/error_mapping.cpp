#include "server/error_mapping.hpp"

#include "braid/errc.hpp"
#include "metadata/errc.hpp"
#include "model/errc.hpp"
#include "protocol/errc.hpp"

namespace braidmq::server {
namespace {

using protocol::error_code;

error_code of(braid::errc code) {
  switch (code) {
    case braid::errc::not_leader:
      return error_code::not_leader_or_follower;
    case braid::errc::unknown_partition:
      return error_code::unknown_topic_or_partition;
    case braid::errc::out_of_order_sequence:
      return error_code::out_of_order_sequence_number;
    case braid::errc::stale_producer_epoch:
      return error_code::invalid_producer_epoch;
    case braid::errc::not_attempted:
      return error_code::operation_not_attempted;
    case braid::errc::too_large:
      return error_code::message_too_large;
    case braid::errc::timed_out:
      return error_code::request_timed_out;
    case braid::errc::offset_out_of_range:
      return error_code::offset_out_of_range;
    case braid::errc::fenced_leader_epoch:
      return error_code::fenced_leader_epoch;
    case braid::errc::unknown_leader_epoch:
      return error_code::unknown_leader_epoch;
    case braid::errc::offset_not_available:
      return error_code::offset_not_available;
    case braid::errc::disk_full:
    case braid::errc::later_version:  // to nobody: the broker ends
    case braid::errc::storage_failed:
      return error_code::kafka_storage_error;
    case braid::errc::stopped:
      return error_code::not_leader_or_follower;  // the client finds the next leader
  }
  return error_code::unknown_server_error;
}

error_code of(metadata::errc code) {
  switch (code) {
    case metadata::errc::topic_exists:
      return error_code::topic_already_exists;
    case metadata::errc::invalid_topic_name:
    case metadata::errc::name_collision:
      return error_code::invalid_topic_exception;
    case metadata::errc::invalid_partitions:
      return error_code::invalid_partitions;
    case metadata::errc::invalid_replication_factor:
      return error_code::invalid_replication_factor;
    case metadata::errc::unknown_topic:
      return error_code::unknown_topic_or_partition;
    case metadata::errc::unknown_topic_id:
      return error_code::unknown_topic_id;
    case metadata::errc::invalid_config:
      return error_code::invalid_config;
    case metadata::errc::invalid_request:
      return error_code::invalid_request;
    case metadata::errc::not_controller:
      return error_code::not_controller;
    case metadata::errc::timed_out:
      return error_code::request_timed_out;
    case metadata::errc::stopped:
      return error_code::not_controller;
    case metadata::errc::broker_id_claimed:
      return error_code::duplicate_broker_registration;
    case metadata::errc::not_founded:
      return error_code::not_controller;
  }
  return error_code::unknown_server_error;
}

error_code of(model::errc code) {
  // Their values are Kafka's numbers, but for the one that never answers a client.
  return code == model::errc::incomplete_batch ? error_code::corrupt_message
                                               : static_cast<error_code>(static_cast<std::int16_t>(code));
}

error_code of(protocol::errc code) {
  return code == protocol::errc::unsupported_version ? error_code::unsupported_version : error_code::invalid_request;
}

template <class Errc>
bool belongs_to(const std::error_code& error) {
  return error.category() == make_error_code(Errc{}).category();
}

}  // namespace

protocol::error_code wire_error(const std::error_code& error) {
  if (!error) return error_code::none;
  if (belongs_to<braid::errc>(error)) return of(static_cast<braid::errc>(error.value()));
  if (belongs_to<metadata::errc>(error)) return of(static_cast<metadata::errc>(error.value()));
  if (belongs_to<model::errc>(error)) return of(static_cast<model::errc>(error.value()));
  if (belongs_to<protocol::errc>(error)) return of(static_cast<protocol::errc>(error.value()));
  return error_code::unknown_server_error;
}

protocol::error_code wire_error_by_id(const std::error_code& error, bool topic_is_known) {
  if (!topic_is_known && error == braid::errc::unknown_partition) return error_code::unknown_topic_id;
  return wire_error(error);
}

}  // namespace braidmq::server
