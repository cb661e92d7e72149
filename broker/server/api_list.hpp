// The APIs that this broker serves: one row each, one file each under handlers/.
#pragma once

#include <cstdint>
#include <span>

#include "server/request_context.hpp"

namespace braidmq::server {

// Takes the body of a request, gives the response with its header; an error closes the connection.
using wire_answer = result<std::optional<bytes>>;  // nothing: no response is sent
using handler = runtime::task<wire_answer> (*)(request_ptr context, bytes body);

struct served_api {
  std::int16_t key;
  std::int16_t min_advertised;  // what ApiVersions says
  std::int16_t min_served;      // below it: advertised for the sake of a client, refused when used
  std::int16_t max_served;
  server::handler handle;
};

std::span<const served_api> api_list();  // by rising key
const served_api* find_served(std::int16_t key);

}  // namespace braidmq::server
