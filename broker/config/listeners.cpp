#include "config/listeners.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "config/errc.hpp"
#include "config/list_text.hpp"

namespace braidmq::config {
namespace {

result<listener> parse_listener(std::string_view text) {
  const auto refuse = [text](std::string_view why) {
    return fail(errc::bad_value, fmt::format("listener \"{}\": {}", text, why));
  };
  const auto separator = text.find("://");
  if (separator == std::string_view::npos) return refuse("needs the form NAME://host:port");
  const auto name = text.substr(0, separator);
  const bool valid = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
  });
  if (!valid) return refuse("the name is of capital letters, digits, '_', '.' and '-'");
  if (name == "SSL" || name.starts_with("SASL_")) return refuse("TLS and SASL are not built yet; use PLAINTEXT");
  auto address = io::parse_endpoint(text.substr(separator + 3));
  if (!address) return tl::unexpected(with_context(address.error(), fmt::format("listener {}", name)));
  return listener{.name = std::string(name), .address = *address};
}

bool is_everywhere(const std::string& host) {
  return host.empty() || host == "0.0.0.0" || host == "::";
}

}  // namespace

result<std::vector<listener>> parse_listeners(std::string_view text) {
  std::vector<listener> all;
  for (const std::string_view part : split_list(text)) {
    BRAID_TRY(one, parse_listener(part));
    for (const auto& other : all) {
      if (other.name == one.name) return fail(errc::bad_value, fmt::format("listener {} occurs twice", one.name));
      if (one.address.port != 0 && other.address == one.address) {
        return fail(errc::bad_value, fmt::format("listeners {} and {} have the same address {}", other.name, one.name,
                                                 one.address.to_string()));
      }
    }
    all.push_back(std::move(one));
  }
  return all;
}

result<std::vector<std::string>> parse_names(std::string_view text, const std::vector<listener>& listeners) {
  std::vector<std::string> names;
  for (const std::string_view name : split_list(text)) {
    if (std::ranges::none_of(listeners, [&](const listener& one) { return one.name == name; })) {
      return fail(errc::bad_value, fmt::format("\"{}\" is not in listeners", name));
    }
    if (std::ranges::find(names, name) != names.end()) {
      return fail(errc::bad_value, fmt::format("{} occurs twice", name));
    }
    names.emplace_back(name);
  }
  return names;
}

result<std::vector<listener>> advertise(const std::vector<listener>& listeners, const std::vector<listener>& advertised,
                                        const std::vector<std::string>& pushed) {
  for (const auto& one : advertised) {
    if (std::ranges::none_of(listeners, [&](const listener& other) { return other.name == one.name; })) {
      return fail(errc::bad_value, fmt::format("advertised.listeners: {} is not in listeners", one.name));
    }
    if (std::ranges::find(pushed, one.name) != pushed.end()) {
      return fail(errc::bad_value,
                  fmt::format("advertised.listeners: {} is also in braid.advertised.pushed; an address comes from one "
                              "of the two",
                              one.name));
    }
  }
  std::vector<listener> all;
  for (const auto& one : listeners) {
    if (std::ranges::find(pushed, one.name) != pushed.end()) continue;
    const auto found = std::ranges::find(advertised, one.name, &listener::name);
    const auto& shown = found == advertised.end() ? one : *found;
    if (is_everywhere(shown.address.host)) {
      return fail(errc::bad_value,
                  fmt::format("advertised.listeners: clients cannot connect to {}://{}; say by which name they reach "
                              "this broker, as in advertised.listeners: {}://broker.example:9092",
                              shown.name, shown.address.to_string(), shown.name));
    }
    all.push_back(shown);
  }
  return all;
}

}  // namespace braidmq::config
