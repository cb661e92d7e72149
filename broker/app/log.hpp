// The log of the process: lines on standard error, as text or as JSON. Either form is one line per event whatever the
// message holds: clients choose their ids and must not be able to forge lines. Any thread may log through spdlog.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace spdlog {
class formatter;
}

namespace braidmq::app {

// Sets spdlog's default logger. `level` and `format` as config.hpp allows them.
void set_up_log(const std::string& level, const std::string& format);

// "2026-11-29T18:00:00.123Z info  message" and {"time":...,"level":...,"thread":...,"message":...}.
std::unique_ptr<spdlog::formatter> text_formatter();
std::unique_ptr<spdlog::formatter> json_formatter();

// Quotes, backslashes, control characters and what is not UTF-8, escaped as JSON wants it.
std::string escape_json(std::string_view text);
// Control characters and what is not UTF-8 as \n, \r, \t or \xNN; quotes stay.
std::string escape_line(std::string_view text);

}  // namespace braidmq::app
