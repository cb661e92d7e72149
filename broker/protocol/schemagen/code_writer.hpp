// Lines of generated code, indented.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace braidmq::schemagen {

class code_writer {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    raw(fmt::format(format, std::forward<Args>(args)...));
  }
  // A line as it is, braces and all.
  void raw(std::string_view text) {
    if (!text.empty()) text_.append(static_cast<std::size_t>(depth_) * 2, ' ');
    text_.append(text);
    text_.push_back('\n');
  }
  void blank() { text_.push_back('\n'); }
  void comment(const std::vector<std::string>& doc) {
    for (const std::string& text : doc) raw(text.empty() ? "//" : "// " + text);
  }
  // `head {`, then lines, then close().
  template <class... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    raw(fmt::format(format, std::forward<Args>(args)...) + " {");
    ++depth_;
  }
  void open_block() {
    raw("{");
    ++depth_;
  }
  void otherwise() {
    --depth_;
    raw("} else {");
    ++depth_;
  }
  void close(std::string_view tail = {}) {
    --depth_;
    raw("}" + std::string(tail));
  }
  void indent() { ++depth_; }
  void outdent() { --depth_; }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  int depth_ = 0;
};

}  // namespace braidmq::schemagen
