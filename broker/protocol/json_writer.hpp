// A compact JSON text of a message, for logs. Bytes are shown by their length only, control characters are escaped, so
// that a client's text cannot forge a log line.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/strong_id.hpp"
#include "base/uuid.hpp"
#include "protocol/errors.hpp"

namespace braidmq::protocol {

class json_writer {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);

  void null() { raw("null"); }
  void value(bool b) { raw(b ? "true" : "false"); }
  void value(double number);
  template <std::integral Int>
    requires(!std::same_as<Int, bool>)
  void value(Int number) {
    raw(std::to_string(number));
  }
  template <class Tag, class Rep>
  void value(strong_id<Tag, Rep> id) {
    value(id.value());
  }
  void value(std::string_view text);
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(const char* text) { value(std::string_view(text)); }  // else a literal would become a bool
  void value(const uuid& id) { value(std::string_view(id.to_string())); }
  void value(const bytes& block);
  void value(error_code code);

  std::string take() { return std::move(text_); }

 private:
  void separate();
  void raw(std::string_view text);
  void open(char bracket);
  void close(char bracket);

  std::string text_;
  bool need_comma_ = false;
};

}  // namespace braidmq::protocol
