// Texts that hold a list by commas. Internal to config.
#pragma once

#include <string_view>
#include <vector>

namespace braidmq::config {

inline std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Without what surrounds them; a comma at the end says nothing more, two in a row enclose an empty one.
inline std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const auto comma = text.find(',');
    all.push_back(trimmed(text.substr(0, comma)));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return all;
}

}  // namespace braidmq::config
