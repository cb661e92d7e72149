#include "protocol/schemagen/parser.hpp"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "protocol/schemagen/lexer.hpp"

namespace braidmq::schemagen {
namespace {

constexpr std::pair<std::string_view, base_type> builtin_types[] = {
    {"bool", base_type::boolean},  {"int8", base_type::int8},       {"int16", base_type::int16},
    {"uint16", base_type::uint16}, {"int32", base_type::int32},     {"uint32", base_type::uint32},
    {"int64", base_type::int64},   {"float64", base_type::float64}, {"uuid", base_type::uuid},
    {"string", base_type::string}, {"bytes", base_type::bytes},     {"records", base_type::records},
};

// An exception stays inside this file: recursive descent unwinds to parse().
class parser {
 public:
  explicit parser(std::vector<token> tokens) : tokens_(std::move(tokens)) {}

  std::vector<message_def> run() {
    std::vector<message_def> messages;
    while (peek().kind != token_kind::end) messages.push_back(message());
    return messages;
  }

 private:
  const token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const token& take() {
    const token& taken = peek();
    if (at_ + 1 < tokens_.size()) ++at_;
    return taken;
  }
  [[noreturn]] static void refuse(const token& where, const std::string& text) {
    throw schema_error{where.at, where.kind == token_kind::end ? text + ", found the end of the file" : text};
  }
  bool next_is(std::string_view text) const {
    return peek().text == text && (peek().kind == token_kind::word || peek().kind == token_kind::punctuation);
  }
  bool accept(std::string_view text) {
    if (!next_is(text)) return false;
    take();
    return true;
  }
  void expect(std::string_view text, std::string_view where) {
    if (!next_is(text)) refuse(peek(), fmt::format("expected '{}' {}", text, where));
    take();
  }
  std::string word(std::string_view what) {
    if (peek().kind != token_kind::word) refuse(peek(), fmt::format("expected {}", what));
    return take().text;
  }
  int integer(std::string_view what) {
    const token& at = peek();
    int value = 0;
    const char* const end = at.text.data() + at.text.size();
    if (at.kind != token_kind::number || std::from_chars(at.text.data(), end, value).ptr != end || value < 0) {
      refuse(at, fmt::format("expected {}, a number from 0", what));
    }
    take();
    return value;
  }

  // 3..13  9..  ..12  5
  written_range range(std::string_view what) {
    written_range range{peek().at, {}, {}};
    if (peek().kind == token_kind::number) {
      range.first = integer(what);
      if (peek().kind != token_kind::range) {
        range.last = range.first;
        return range;
      }
      take();
      if (peek().kind == token_kind::number) range.last = integer(what);
    } else if (peek().kind == token_kind::range) {
      take();
      range.last = integer(what);
    } else {
      refuse(peek(), fmt::format("expected {}, such as 3..13, 9.., ..12 or 5", what));
    }
    return range;
  }

  message_def message() {
    message_def out;
    const token& start = peek();
    out.at = start.at;
    out.doc = start.leading_doc;
    const std::string kind = word("'request', 'response', 'header' or 'record'");
    if (kind == "request") {
      out.kind = message_kind::request;
    } else if (kind == "response") {
      out.kind = message_kind::response;
    } else if (kind == "header") {
      out.kind = message_kind::header;
    } else if (kind != "record") {
      refuse(start, fmt::format("expected 'request', 'response', 'header' or 'record', found '{}'", kind));
    }
    out.name = word("the name of the message");
    if (out.kind == message_kind::request || out.kind == message_kind::response) {
      expect("api", "and the API key");
      out.api_key = integer("the API key");
    }
    expect("versions", "and the message's versions");
    out.versions_written = range("the message's versions");
    if (next_is("unstable")) {
      out.unstable_at = take().at;
      out.unstable_from = range("the unstable versions").first.value_or(0);
    }
    expect("flexible", "and the flexible versions, or 'none'");
    if (!accept("none")) out.flexible_written = range("the flexible versions");
    out.body.at = out.at;
    out.body.doc = out.doc;
    expect("{", "before the fields");
    while (!next_is("}")) {
      if (next_is("common") && peek(1).kind == token_kind::word) {
        common(out);
      } else {
        out.body.fields.push_back(field(out));
      }
    }
    take();
    return out;
  }

  void common(message_def& out) {
    struct_def common;
    common.doc = peek().leading_doc;
    take();
    common.is_common = true;
    common.at = peek().at;
    common.name = word("the name of the structure");
    if (accept("@")) common.versions_written = range("the structure's versions");
    expect("{", "before the fields");
    while (!next_is("}")) common.fields.push_back(field(out));
    take();
    out.structs.push_back(std::move(common));
  }

  void field_type(field_def& out) {
    if (accept("[")) {
      expect("]", "after '['");
      out.is_array = true;
    }
    const std::string type = word("a type");
    for (const auto& [name, base] : builtin_types) {
      if (name == type) out.base = base;
    }
    if (out.base == base_type::structure) out.struct_name = type;
    if (!accept("?")) return;
    out.has_nullable = true;
    if (peek().kind == token_kind::number || peek().kind == token_kind::range)
      out.nullable_written = range("nullable versions");
  }

  bool field_attribute(field_def& out) {
    if (accept("@")) {
      out.versions_written = range("the field's versions");
      return true;
    }
    if (accept("=")) {
      out.default_value = default_value();
      return true;
    }
    if (next_is("common") && peek(1).kind == token_kind::word) return false;  // a common structure follows
    // The next field's name may be one of these words.
    if (peek().kind != token_kind::word || (peek(1).kind == token_kind::punctuation && peek(1).text == ":"))
      return false;
    if (accept("as")) {
      out.as_at = peek().at;
      out.as = word("the name of a strong type");
    } else if (accept("tag")) {
      out.tag = static_cast<std::uint32_t>(integer("the tag"));
    } else if (accept("ignorable")) {
      out.ignorable = true;
    } else if (accept("extension")) {
      out.extension = true;
    } else if (accept("classic")) {
      out.classic = true;
    } else {
      refuse(peek(), fmt::format("'{}' is no attribute of a field", peek().text));
    }
    return true;
  }

  literal default_value() {
    const token& at = take();
    if (at.kind == token_kind::text) return {at.at, literal::kind::text, at.text};
    if (at.kind == token_kind::number) return {at.at, literal::kind::number, at.text};
    if (at.text == "null") return {at.at, literal::kind::null, at.text};
    if (at.text == "true" || at.text == "false") return {at.at, literal::kind::boolean, at.text};
    refuse(at, "expected a default: a number, a string, true, false or null");
  }

  field_def field(message_def& message) {
    field_def out;
    const std::size_t begin = at_;
    out.at = peek().at;
    out.doc = peek().leading_doc;
    out.name = word("the name of a field, or '}'");
    expect(":", "after the name of a field");
    field_type(out);
    while (field_attribute(out)) {
    }
    const bool has_block = next_is("{");
    for (std::size_t i = begin; i < at_ + (has_block ? 1 : 0); ++i) {
      if (!tokens_[i].trailing_doc.empty()) out.doc.push_back(tokens_[i].trailing_doc);
    }
    if (!has_block) return out;
    if (out.base != base_type::structure) refuse(peek(), fmt::format("{} has no fields", base_type_name(out)));
    take();
    out.struct_is_inline = true;
    struct_def inner;
    inner.at = out.at;
    inner.name = out.struct_name;
    inner.doc = out.doc;
    while (!next_is("}")) inner.fields.push_back(field(message));
    take();
    message.structs.push_back(std::move(inner));
    return out;
  }

  std::vector<token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

std::variant<std::vector<message_def>, schema_error> parse(std::string_view source) {
  auto tokens = tokenize(source);
  if (const auto* error = std::get_if<schema_error>(&tokens)) return *error;
  try {
    return parser(std::get<std::vector<token>>(std::move(tokens))).run();
  } catch (const schema_error& error) {
    return error;
  }
}

}  // namespace braidmq::schemagen
