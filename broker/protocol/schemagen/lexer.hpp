// Splits a schema file into tokens. A comment (# to the end of the line) travels with a token: comment lines right
// above it are its leading doc, a comment behind it on the same line its trailing doc.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/schemagen/ast.hpp"

namespace braidmq::schemagen {

enum class token_kind { word, number, text, range, punctuation, end };

struct token {
  token_kind kind = token_kind::end;
  std::string text;  // a string literal without its quotes
  position at;
  std::vector<std::string> leading_doc;
  std::string trailing_doc;
};

// Always ends with a token of kind `end`.
std::variant<std::vector<token>, schema_error> tokenize(std::string_view source);

}  // namespace braidmq::schemagen
