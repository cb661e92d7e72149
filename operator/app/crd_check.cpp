#include "operator_app/crd_check.hpp"

#include <charconv>

#include <nlohmann/json.hpp>

#include "api/owned.hpp"

namespace braidmq::operator_app {

std::optional<bool> crds_are_outdated(k8s::client& api) {
  for (const char* name : {"braidclusters.braidmq.io", "braidpools.braidmq.io", "topics.braidmq.io"}) {
    const auto crd = api.get(api::crd_type, {"", name});
    if (!crd) return std::nullopt;
    const auto* level = k8s::find(*crd, {"metadata", "annotations", "braidmq.io/schema-level"});
    const auto* text = level == nullptr ? nullptr : level->get_ptr<const std::string*>();
    int number = 0;
    if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), number);
    if (number < schema_level) return true;
  }
  return false;
}

}  // namespace braidmq::operator_app
