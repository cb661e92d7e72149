#include <algorithm>
#include <fstream>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ctl/commands.hpp"
#include "ctl/output.hpp"
#include "ctl/parse.hpp"
#include "kafka_client/errc.hpp"

namespace braidmq::ctl {
namespace {

using kafka_client::written_slice;
using protocol::error_code;

std::string name_of(const written_slice& one) {
  return one.error == error_code::none ? "written" : protocol::to_string(one.error);
}

void show_table(context& with, const std::vector<written_slice>& slices) {
  std::vector<std::vector<std::string>> rows{{"TOPIC", "PARTITION", "RECORDS", "OFFSET", "RESULT"}};
  for (const written_slice& one : slices) {
    const std::string offset = one.base.value() < 0 ? "-" : std::to_string(one.base.value());
    rows.push_back(
        {printable(one.topic), std::to_string(one.partition), std::to_string(one.records), offset, name_of(one)});
  }
  with.out << table(rows) << std::flush;
}

void show_json(context& with, const std::vector<written_slice>& slices) {
  nlohmann::json list = nlohmann::json::array();
  for (const written_slice& one : slices) {
    nlohmann::json shown = {{"topic", one.topic}, {"partition", one.partition}, {"records", one.records}};
    if (one.error == error_code::none) {
      shown["offset"] = one.base.value();
    } else {
      shown["error"] = name_of(one);
      shown["message"] = one.message;
    }
    list.push_back(std::move(shown));
  }
  with.out << pretty(list) << std::flush;
}

// Who is to blame: the partitions with an error of their own, or what all of them say.
int blame(context& with, const std::vector<written_slice>& slices, bool atomic) {
  const auto has_own_error = [](const written_slice& one) {
    return one.error != error_code::none && one.error != error_code::operation_not_attempted;
  };
  const auto say = [&with](const std::string& line) { with.err << "braidctl: " << printable(line) << std::endl; };
  const auto words_of = [](const written_slice& one) {
    return one.message.empty() ? std::string(protocol::error_text(one.error)) : one.message;
  };
  bool named = false;
  bool failed = false;
  for (const written_slice& one : slices) {
    failed = failed || one.error != error_code::none;
    if (!has_own_error(one)) continue;
    named = true;
    say(fmt::format("partition {} of '{}': {}: {}", one.partition, one.topic, name_of(one), words_of(one)));
  }
  if (!failed) return exit_good;
  if (!named) say(words_of(slices.front()));
  const bool unknown =
      slices.front().error == error_code::request_timed_out || slices.front().error == error_code::kafka_storage_error;
  if (atomic) say(unknown ? "written whole or not at all: read the topics to see" : "nothing was written");
  return exit_refused;
}

}  // namespace

result<std::vector<kafka_client::outgoing_record>> read_records(std::istream& from, const std::string& name) {
  constexpr std::size_t most_bytes = std::size_t{256} << 20U;
  std::vector<kafka_client::outgoing_record> records;
  std::size_t number = 0;
  std::size_t size = 0;
  for (std::string line; std::getline(from, line);) {
    ++number;
    size += line.size();
    const auto refuse_line = [&](std::string_view why) {
      return fail(kafka_client::errc::invalid_request, fmt::format("{}:{}: {}", name, number, why));
    };
    if (size > most_bytes) return refuse_line("more than one request may hold");
    auto record = parse_line(line);
    if (!record) return refuse_line("a line is topic, key and value with tabs between them; an empty key is none");
    records.push_back(std::move(*record));
  }
  if (from.bad()) return fail(kafka_client::errc::invalid_request, name + ": cannot be read");
  if (records.empty()) return fail(kafka_client::errc::invalid_request, name + ": no records");
  return records;
}

int produce(context& with, const produce_order& wanted) {
  auto records = wanted.records;
  if (!wanted.file.empty()) {
    std::ifstream file;
    if (wanted.file != "-") file.open(wanted.file, std::ios::binary);
    if (wanted.file != "-" && !file) {
      return refuse(with, {make_error_code(kafka_client::errc::invalid_request), wanted.file + ": cannot be read"});
    }
    auto read = read_records(wanted.file == "-" ? with.in : file, wanted.file);
    if (!read) return refuse(with, read.error());
    std::ranges::move(*read, std::back_inserter(records));
  }
  const auto written = with.write(wanted.bootstrap, records, wanted.atomic);
  if (!written) return refuse(with, written.error());
  if (with.as == format::json)
    show_json(with, *written);
  else
    show_table(with, *written);
  return blame(with, *written, wanted.atomic);
}

}  // namespace braidmq::ctl
