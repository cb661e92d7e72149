#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ctl/commands.hpp"
#include "ctl/output.hpp"
#include "protocol/wire_reader.hpp"

namespace braidmq::ctl {
namespace {

using nlohmann::json;

// Text as it is, null as null; what is no text as "NAMEBase64".
void put(json& document, const std::string& name, const std::optional<byte_view>& data) {
  if (!data) {
    document[name] = nullptr;
  } else if (const std::string_view text = as_string_view(*data); protocol::is_utf8(text)) {
    document[name] = text;
  } else {
    document[name + "Base64"] = base64(text);
  }
}

std::string json_line(const std::string& topic, const kafka_client::incoming_record& one) {
  json document = {
      {"topic", topic}, {"partition", one.partition}, {"offset", one.offset}, {"timestamp", one.timestamp_ms}};
  if (one.append_time) document["timestampType"] = "LogAppendTime";
  put(document, "key", one.record.key);
  put(document, "value", one.record.value);
  json headers = json::array();
  auto reader = one.record.headers();
  while (const auto header = reader.next()) {
    json shown;
    put(shown, "key", as_byte_view(header->key));
    put(shown, "value", header->value);
    headers.push_back(std::move(shown));
  }
  document["headers"] = std::move(headers);
  return document.dump() + "\n";
}

std::string shown(const std::optional<byte_view>& data) {
  return data ? printable_bytes(as_string_view(*data)) : "null";
}

// "0:12  2026-11-30T12:00:00.250Z  key  value  header=value".
std::string text_line(const kafka_client::incoming_record& one) {
  std::string line = fmt::format("{}:{}  {}  {}  {}", one.partition, one.offset, time_text(one.timestamp_ms),
                                 shown(one.record.key), shown(one.record.value));
  auto reader = one.record.headers();
  while (const auto header = reader.next()) {
    line += fmt::format("  {}={}", printable_bytes(header->key), shown(header->value));
  }
  return line + "\n";
}

result<std::monostate> read_all(context& with, const consume_arguments& wanted) {
  kafka_client::client_options options;
  BRAID_TRY(bootstrap, kafka_client::parse_bootstrap(wanted.bootstrap));
  options.bootstrap = std::move(bootstrap);
  BRAID_TRY(client, kafka_client::client::connect(std::move(options)));
  BRAID_TRY(reader, kafka_client::consumer::open(*client, wanted.what));
  std::uint64_t left = wanted.max_records.value_or(std::numeric_limits<std::uint64_t>::max());
  const auto print = [&](const kafka_client::incoming_record& one) {
    with.out << (with.as == format::json ? json_line(wanted.what.topic, one) : text_line(one));
    return --left > 0 && with.out.good();  // whoever reads may have had enough
  };
  while (left > 0) {
    BRAID_TRY(more, reader.poll(print));
    with.out.flush();
    if (!more || !with.out.good()) break;
  }
  return std::monostate();
}

}  // namespace

int consume(context& with, const consume_arguments& wanted) {
  const auto read = read_all(with, wanted);
  return read ? exit_good : refuse(with, read.error());
}

}  // namespace braidmq::ctl
