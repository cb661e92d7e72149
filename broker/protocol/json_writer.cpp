#include "protocol/json_writer.hpp"

#include <cmath>

#include <fmt/format.h>

namespace braidmq::protocol {

void json_writer::separate() {
  if (need_comma_) text_.push_back(',');
  need_comma_ = true;
}

void json_writer::raw(std::string_view text) {
  separate();
  text_.append(text);
}

void json_writer::open(char bracket) {
  separate();
  text_.push_back(bracket);
  need_comma_ = false;
}

void json_writer::close(char bracket) {
  text_.push_back(bracket);
  need_comma_ = true;
}

void json_writer::key(std::string_view name) {
  value(name);
  text_.push_back(':');
  need_comma_ = false;
}

void json_writer::value(double number) {
  if (!std::isfinite(number)) return null();
  raw(fmt::format("{}", number));
}

void json_writer::value(std::string_view text) {
  separate();
  text_.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      text_.push_back('\\');
      text_.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      text_.append(fmt::format("\\u{:04x}", static_cast<unsigned char>(c)));
    } else {
      text_.push_back(c);
    }
  }
  text_.push_back('"');
}

void json_writer::value(const bytes& block) {
  value(std::string_view(fmt::format("<{} bytes>", block.size())));
}

void json_writer::value(error_code code) {
  value(to_string(code));
}

}  // namespace braidmq::protocol
