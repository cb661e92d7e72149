#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "k8s/object.hpp"

namespace braidmq::k8s {

struct list_page {
  std::vector<json> items;  // apiVersion and kind filled in, as lists leave them out
  std::string resource_version;
  std::string continue_token;  // empty: the last page
};

}  // namespace braidmq::k8s
