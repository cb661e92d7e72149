#include "admin/secret_file.hpp"

#include <cctype>
#include <fstream>

#include <fmt/format.h>
#include <openssl/crypto.h>

#include "admin_client/errc.hpp"

namespace braidmq::admin {
namespace {

using admin_client::errc;

constexpr std::size_t max_file_bytes = std::size_t{64} * 1024;

// "Bearer x" -> "x"; the scheme is not case-sensitive (RFC 7235, 2.1).
std::string_view token_of(std::string_view authorization) {
  constexpr std::string_view scheme = "bearer ";
  if (authorization.size() <= scheme.size()) return {};
  for (std::size_t i = 0; i < scheme.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(authorization[i])) != scheme[i]) return {};
  }
  return authorization.substr(scheme.size());
}

// Their lengths may be told apart by time, their bytes may not.
bool equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

result<std::vector<std::string>> secret_file::read() const {
  const auto refuse = [this](const std::string& why) {
    return fail(errc::cluster_authorization_failed, fmt::format("braid.secret.file: {}: {}", path_, why));
  };
  std::ifstream file(path_, std::ios::binary);
  if (!file) return refuse("cannot be opened");
  std::string text(max_file_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return refuse("cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > max_file_bytes) return refuse(fmt::format("is larger than {} bytes", max_file_bytes));

  std::vector<std::string> secrets;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty()) continue;
    if (line.size() < min_secret_bytes) {
      return refuse(fmt::format("the secret in line {} has {} bytes; it needs {} or more", number, line.size(),
                                min_secret_bytes));
    }
    if (secrets.size() == max_secrets) return refuse(fmt::format("holds more than {} secrets", max_secrets));
    secrets.push_back(std::move(line));
  }
  if (secrets.empty()) return refuse("holds no secret");
  return secrets;
}

secret_file::outcome secret_file::check(std::string_view authorization) const {
  if (path_.empty()) {
    return {verdict::no_file,
            "this broker takes no changes by HTTP: set braid.secret.file to a file with a secret of 32 bytes or more"};
  }
  const auto secrets = read();
  if (!secrets) return {verdict::no_file, secrets.error().message};
  const std::string_view token = token_of(authorization);
  if (token.empty()) return {verdict::no_token, "send the header \"Authorization: Bearer SECRET\""};
  bool accepted = false;
  for (const std::string& secret : *secrets) accepted |= equal(secret, token);
  if (!accepted) return {verdict::wrong_token, "the secret is not one of those in braid.secret.file"};
  return {verdict::accepted, {}};
}

}  // namespace braidmq::admin
