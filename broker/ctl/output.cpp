#include "ctl/output.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "protocol/wire_reader.hpp"

namespace braidmq::ctl {

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    out += octet < 0x20 || octet == 0x7f ? fmt::format("\\x{:02x}", octet) : std::string(1, c);
  }
  return out;
}

std::string printable_bytes(std::string_view data) {
  if (protocol::is_utf8(data)) return printable(data);
  std::string out;
  for (const char c : data) {
    const auto octet = static_cast<unsigned char>(c);
    out += octet < 0x20 || octet >= 0x7f ? fmt::format("\\x{:02x}", octet) : std::string(1, c);
  }
  return out;
}

std::string time_text(std::int64_t milliseconds) {
  constexpr std::int64_t first = -62'167'219'200'000;  // 0000-01-01
  constexpr std::int64_t last = 253'402'300'799'999;   // 9999-12-31
  if (milliseconds == -1) return "-";
  if (milliseconds < first || milliseconds > last) return std::to_string(milliseconds);
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(milliseconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::string base64(std::string_view data) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < data.size(); at += 3) {
    const std::size_t octets = std::min<std::size_t>(3, data.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8U | (i < octets ? static_cast<std::uint8_t>(data[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) out += i <= octets ? alphabet[group >> (18 - 6 * i) & 63U] : '=';
  }
  return out;
}

std::string pretty(const nlohmann::json& value) {
  return value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int refuse(context& with, const error& why) {
  with.err << "braidctl: " << printable(why.to_string()) << std::endl;
  return exit_refused;
}

}  // namespace braidmq::ctl
