#include "protocol/schemagen/lexer.hpp"

#include <cctype>
#include <optional>

namespace braidmq::schemagen {
namespace {

bool is_word_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_word_part(char c) {
  return is_word_start(c) || is_digit(c);
}

class lexer {
 public:
  explicit lexer(std::string_view source) : source_(source) {}

  std::variant<std::vector<token>, schema_error> run() {
    while (at_ < source_.size()) {
      if (!step()) return *error_;
    }
    push(token_kind::end, "", here());
    return std::move(tokens_);
  }

 private:
  position here() const { return {line_, static_cast<int>(at_ - line_start_) + 1}; }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void push(token_kind kind, std::string text, position at) {
    tokens_.push_back({kind, std::move(text), at, std::move(doc_), {}});
    doc_.clear();
  }

  bool refuse(std::string text) {
    error_ = schema_error{here(), std::move(text)};
    return false;
  }

  bool step() {
    const char c = peek();
    if (c == '\n') {
      newline();
      return true;
    }
    if (c == ' ' || c == '\r' || c == '\t') {
      ++at_;
      return true;
    }
    if (c == '#') return comment();
    if (is_word_start(c)) return word();
    if (is_digit(c) || (c == '-' && is_digit(peek(1)))) return number();
    if (c == '"') return quoted();
    if (c == '.' && peek(1) == '.') {
      push(token_kind::range, "..", here());
      at_ += 2;
      return true;
    }
    if (std::string_view("{}[]:?@=").find(c) != std::string_view::npos) {
      push(token_kind::punctuation, std::string(1, c), here());
      ++at_;
      return true;
    }
    return refuse(std::string("unexpected character '") + c + "'");
  }

  void newline() {
    const bool blank =
        source_.substr(line_start_, at_ - line_start_).find_first_not_of(" \t\r") == std::string_view::npos;
    if (blank) doc_.clear();  // a comment that stands alone belongs to nobody
    ++at_;
    ++line_;
    line_start_ = at_;
  }

  bool comment() {
    const std::size_t end = std::min(source_.find('\n', at_), source_.size());
    std::string_view text = source_.substr(at_ + 1, end - at_ - 1);
    if (text.starts_with(' ')) text.remove_prefix(1);
    if (!tokens_.empty() && tokens_.back().at.line == line_) {
      tokens_.back().trailing_doc = text;
    } else {
      doc_.emplace_back(text);
    }
    at_ = end;
    return true;
  }

  bool word() {
    const position start = here();
    const std::size_t begin = at_;
    while (is_word_part(peek())) ++at_;
    push(token_kind::word, std::string(source_.substr(begin, at_ - begin)), start);
    return true;
  }

  bool number() {
    const position start = here();
    const std::size_t begin = at_;
    if (peek() == '-') ++at_;
    while (is_word_part(peek())) ++at_;  // also 0x7f; the parser judges the digits
    push(token_kind::number, std::string(source_.substr(begin, at_ - begin)), start);
    return true;
  }

  bool quoted() {
    const position start = here();
    const std::size_t end = source_.find_first_of("\"\n", at_ + 1);
    if (end == std::string_view::npos || source_[end] == '\n') return refuse("string without its closing quote");
    push(token_kind::text, std::string(source_.substr(at_ + 1, end - at_ - 1)), start);
    at_ = end + 1;
    return true;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  int line_ = 1;
  std::vector<token> tokens_;
  std::vector<std::string> doc_;
  std::optional<schema_error> error_;
};

}  // namespace

std::variant<std::vector<token>, schema_error> tokenize(std::string_view source) {
  return lexer(source).run();
}

}  // namespace braidmq::schemagen
