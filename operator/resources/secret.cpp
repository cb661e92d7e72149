#include "resources/secret.hpp"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api/owned.hpp"

namespace braidmq::resources {
namespace {

// RFC 4648, with padding, as Secrets hold their values.
constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string to_base64(std::string_view octets) {
  std::string text;
  for (std::size_t at = 0; at < octets.size(); at += 3) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = (bits << 8U) | (at + i < octets.size() ? static_cast<unsigned char>(octets[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += at + i > octets.size() ? '=' : alphabet[(bits >> (18 - 6 * i)) & 63U];
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto value = alphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xffU);
  }
  return out;
}

}  // namespace

json secret(const api::braid_cluster& cluster, io::random_source& random) {
  std::array<std::uint8_t, 32> octets{};
  random.fill(std::as_writable_bytes(std::span(octets)));
  std::string hex;
  for (const auto octet : octets) hex += fmt::format("{:02x}", octet);
  auto object = object_head(api::secret_type, cluster.key.namespace_name, secret_name(cluster.key.name),
                            cluster_labels(cluster), owner_reference(api::cluster_type, cluster));
  object["type"] = "Opaque";
  object["data"] = {{secret_key, to_base64(hex + "\n")}};
  return object;
}

std::optional<std::string> read_secret(const json& object) {
  const auto* value = k8s::find(object, {"data", secret_key});
  const auto* text = value == nullptr ? nullptr : value->get_ptr<const std::string*>();
  const auto lines = text == nullptr ? std::nullopt : from_base64(*text);
  if (!lines) return std::nullopt;
  constexpr std::size_t min_bytes = 32;
  for (std::string_view rest = *lines; !rest.empty();) {
    const auto end = rest.find('\n');
    auto line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() >= min_bytes) return std::string(line);
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace braidmq::resources
