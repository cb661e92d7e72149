#include "bench/kafka_load/producer.hpp"

#include <array>
#include <utility>

#include <librdkafka/rdkafka.h>

namespace braidmq::bench {
namespace {

tl::unexpected<error> refused(std::string words) {
  return fail(std::make_error_code(std::errc::io_error), std::move(words));
}

using config = std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)>;

result<config> make_config(const producer_options& options) {
  config made(rd_kafka_conf_new(), &rd_kafka_conf_destroy);
  const std::array<std::pair<const char*, std::string>, 6> settings = {{
      {"bootstrap.servers", options.bootstrap},
      {"linger.ms", std::to_string(options.linger_ms)},
      {"batch.size", "131072"},
      {"acks", "all"},
      {"queue.buffering.max.messages", "20000"},  // all of it has to be answered in the end
      {"topic.metadata.refresh.interval.ms", "-1"},
  }};
  std::array<char, 512> words{};
  for (const auto& [name, value] : settings) {
    if (rd_kafka_conf_set(made.get(), name, value.c_str(), words.data(), words.size()) != RD_KAFKA_CONF_OK) {
      return refused(words.data());
    }
  }
  return made;
}

}  // namespace

result<std::unique_ptr<producer>> producer::make(const producer_options& options, ack_function on_ack) {
  std::unique_ptr<producer> made(new producer(std::move(on_ack)));
  BRAID_TRY(settings, make_config(options));
  rd_kafka_conf_set_opaque(settings.get(), made.get());
  rd_kafka_conf_set_dr_msg_cb(settings.get(), &producer::on_delivery);
  std::array<char, 512> words{};
  made->client_ = rd_kafka_new(RD_KAFKA_PRODUCER, settings.get(), words.data(), words.size());
  if (made->client_ == nullptr) return refused(words.data());
  std::ignore = settings.release();  // the client's now
  made->topic_ = rd_kafka_topic_new(made->client_, options.topic.c_str(), nullptr);
  if (made->topic_ == nullptr) return refused(rd_kafka_err2str(rd_kafka_last_error()));
  return made;
}

producer::~producer() {
  if (topic_ != nullptr) rd_kafka_topic_destroy(topic_);
  if (client_ == nullptr) return;
  rd_kafka_purge(client_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_destroy(client_);
}

void producer::on_delivery(rd_kafka_s* /*from*/, const rd_kafka_message_s* message, void* self) {
  auto& of = *static_cast<producer*>(self);
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    of.on_ack_();
  } else if (of.refusal_.empty()) {
    of.refusal_ = rd_kafka_err2str(message->err);
  }
}

result<bool> producer::send(std::int32_t partition, std::string_view value) {
  // librdkafka takes a payload that is not const, and copies it.
  void* payload = const_cast<char*>(value.data());
  if (rd_kafka_produce(topic_, partition, RD_KAFKA_MSG_F_COPY, payload, value.size(), nullptr, 0, nullptr) == 0) {
    return true;
  }
  if (rd_kafka_last_error() == RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
  return refused(rd_kafka_err2str(rd_kafka_last_error()));
}

status producer::wait(std::chrono::milliseconds most) {
  rd_kafka_poll(client_, static_cast<int>(most.count()));
  if (!refusal_.empty()) return refused(refusal_);
  return {};
}

status producer::drain(std::chrono::milliseconds most) {
  if (rd_kafka_flush(client_, static_cast<int>(most.count())) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return refused("records stay without an answer");
  }
  return wait(std::chrono::milliseconds(0));
}

}  // namespace braidmq::bench
