// One interface for all generated messages, so that a test is compiled once and not once per message.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "protocol/random_source.hpp"

namespace braidmq::protocol {

class any_message {
 public:
  virtual ~any_message() = default;
  virtual status encode(byte_buffer& to, std::int16_t version) const = 0;
  virtual bool equals(const any_message& other) const = 0;  // both of the same type
  virtual std::string to_json() const = 0;
};
using any_message_ptr = std::unique_ptr<any_message>;

struct message_type {
  std::string_view name;
  std::int16_t min_version;
  std::int16_t max_version;
  any_message_ptr (*make_default)();
  any_message_ptr (*make_random)(random_source& random, std::int16_t version);
  result<any_message_ptr> (*decode)(bytes body, std::int16_t version);
};

const std::vector<message_type>& all_message_types();

}  // namespace braidmq::protocol
