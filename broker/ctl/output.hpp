// How braidctl shows things to people: aligned tables, and text that cannot command a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "ctl/commands.hpp"

namespace braidmq::ctl {

// Rows of equal length, the first one the heads; columns two spaces apart, no space at the end of a line.
std::string table(const std::vector<std::vector<std::string>>& rows);

// Control characters as \xNN.
std::string printable(std::string_view text);

// The same for what is no text at all: everything but printable ASCII as \xNN when it is not UTF-8.
std::string printable_bytes(std::string_view data);

// "2026-11-30T12:00:00.250Z"; "-" for -1 (none), the number for what is not in the years 0 to 9999.
std::string time_text(std::int64_t milliseconds);

std::string base64(std::string_view data);

// Indented, with a line end.
std::string pretty(const nlohmann::json& value);

// Says on `err` what went wrong; exit_refused.
int refuse(context& with, const error& why);

}  // namespace braidmq::ctl
