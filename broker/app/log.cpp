#include "app/log.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace braidmq::app {
namespace {

// Length of the valid UTF-8 sequence that `text` begins with (RFC 3629: no overlong forms, no surrogates); 0: none.
std::size_t utf8_length(std::string_view text) {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = at(0);
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) length = 2;
  if ((first & 0xf0U) == 0xe0) {
    length = 3;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  }
  if (length == 0 || text.size() < length || at(1) < low || at(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((at(i) & 0xc0U) != 0x80) return 0;
  }
  return length;
}

// C1 controls (U+0080 to U+009F) steer terminals as well.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 2) return first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return character.size() == 1 && (first < 0x20 || first == 0x7f);
}

template <class Escape>
std::string escape(std::string_view text, Escape special) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto length = utf8_length(text);
    const auto character = text.substr(0, length == 0 ? 1 : length);
    special(out, character, length != 0);
    text.remove_prefix(character.size());
  }
  return out;
}

bool append_common(std::string& out, char c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return true;
    case '\r':
      out += "\\r";
      return true;
    case '\t':
      out += "\\t";
      return true;
    default:
      return false;
  }
}

std::string time_of(spdlog::log_clock::time_point when) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(when.time_since_epoch()).count();
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, ms % 1000);
}

std::string_view view_of(const spdlog::string_view_t& text) {
  return {text.data(), text.size()};
}

void append(spdlog::memory_buf_t& out, const std::string& line) {
  out.append(line.data(), line.data() + line.size());
}

class text_lines final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& event, spdlog::memory_buf_t& out) override {
    append(out, fmt::format("{} {:<5} {}\n", time_of(event.time), view_of(spdlog::level::to_string_view(event.level)),
                            escape_line(view_of(event.payload))));
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<text_lines>(); }
};

class json_lines final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& event, spdlog::memory_buf_t& out) override {
    append(out, fmt::format("{{\"time\":\"{}\",\"level\":\"{}\",\"thread\":{},\"message\":\"{}\"}}\n",
                            time_of(event.time), view_of(spdlog::level::to_string_view(event.level)), event.thread_id,
                            escape_json(view_of(event.payload))));
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<json_lines>(); }
};

}  // namespace

std::string escape_json(std::string_view text) {
  return escape(text, [](std::string& out, std::string_view character, bool valid) {
    if (!valid)
      out += "\\ufffd";
    else if (character == "\"" || character == "\\")
      out.append("\\").append(character);
    else if (append_common(out, character[0]))
      return;
    else if (is_control(character))
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(character.back()));
    else
      out += character;
  });
}

std::string escape_line(std::string_view text) {
  return escape(text, [](std::string& out, std::string_view character, bool valid) {
    if (valid && append_common(out, character[0])) return;
    if (valid && !is_control(character)) {
      out += character;
      return;
    }
    for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  });
}

std::unique_ptr<spdlog::formatter> text_formatter() {
  return std::make_unique<text_lines>();
}
std::unique_ptr<spdlog::formatter> json_formatter() {
  return std::make_unique<json_lines>();
}

void set_up_log(const std::string& level, const std::string& format) {
  auto logger = std::make_shared<spdlog::logger>("braidmq", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(format == "json" ? json_formatter() : text_formatter());
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace braidmq::app
