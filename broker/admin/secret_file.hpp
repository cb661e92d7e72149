// The secrets that changes by HTTP need. One file, one secret of 32 bytes or more a line, empty lines do not count: the
// first is in use, the others are accepted too while they are being replaced. Read anew for each check, so that a new
// file counts at once and nothing has to be watched.
//
// Any thread. Source: RFC 6750 (bearer tokens).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace braidmq::admin {

class secret_file {
 public:
  static constexpr std::size_t min_secret_bytes = 32;
  static constexpr std::size_t max_secrets = 16;

  explicit secret_file(std::string path) : path_(std::move(path)) {}  // empty: there is none

  // The secrets, or which line is wrong. The words hold no secret.
  result<std::vector<std::string>> read() const;

  // Whether an Authorization header carries one of them. Takes the same time whichever byte differs.
  enum class verdict { accepted, no_token, wrong_token, no_file };
  struct outcome {
    verdict is = verdict::no_file;
    std::string words;  // what to do, when it is not accepted
  };
  outcome check(std::string_view authorization) const;

 private:
  std::string path_;
};

}  // namespace braidmq::admin
