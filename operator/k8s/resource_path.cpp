#include "k8s/resource_path.hpp"

#include <fmt/format.h>

#include "k8s/errc.hpp"

namespace braidmq::k8s {
namespace {

// What the API server itself refuses in a name, as it could lead elsewhere.
bool is_segment(const std::string& text) {
  return !text.empty() && text != "." && text != ".." && text.find_first_of("/%") == std::string::npos;
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '.' || c == '~';
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

result<std::string> collection_path(const resource_type& type, const std::string& namespace_name) {
  std::string path = type.group.empty() ? "/api/" + type.version : "/apis/" + type.group + "/" + type.version;
  if (type.namespaced && !namespace_name.empty()) {
    if (!is_segment(namespace_name)) return fail(errc::invalid, fmt::format("no namespace: \"{}\"", namespace_name));
    path += "/namespaces/" + percent_encoded(namespace_name);
  }
  return path + "/" + type.plural;
}

result<std::string> object_path(const resource_type& type, const object_key& key, const std::string& subresource) {
  if (type.namespaced && key.namespace_name.empty()) {
    return fail(errc::invalid, fmt::format("{} \"{}\" without a namespace", type.kind, key.name));
  }
  if (!is_segment(key.name)) return fail(errc::invalid, fmt::format("no name of a {}: \"{}\"", type.kind, key.name));
  BRAID_TRY(path, collection_path(type, key.namespace_name));
  path += "/" + percent_encoded(key.name);
  if (!subresource.empty()) path += "/" + subresource;
  return path;
}

std::string with_query(std::string path, const query_parameters& query) {
  char separator = '?';
  for (const auto& [name, value] : query) {
    if (value.empty()) continue;
    path += separator + name + "=" + percent_encoded(value);
    separator = '&';
  }
  return path;
}

}  // namespace braidmq::k8s
