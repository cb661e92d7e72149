#include "unit/protocol/any_message.hpp"

#include "protocol/generated/all_messages.hpp"

namespace braidmq::protocol {
namespace {

template <class T>
class holder final : public any_message {
 public:
  explicit holder(T value) : value_(std::move(value)) {}
  status encode(byte_buffer& to, std::int16_t version) const override { return value_.encode(to, version); }
  bool equals(const any_message& other) const override { return value_ == static_cast<const holder&>(other).value_; }
  std::string to_json() const override { return value_.to_json(); }

 private:
  T value_;
};

template <class T>
message_type describe() {
  return {T::name,
          T::min_version,
          T::max_version,
          []() -> any_message_ptr { return std::make_unique<holder<T>>(T{}); },
          [](random_source& random, std::int16_t version) -> any_message_ptr {
            T value;
            fill_random(random, value, version);
            return std::make_unique<holder<T>>(std::move(value));
          },
          [](bytes body, std::int16_t version) -> result<any_message_ptr> {
            auto decoded = T::decode(std::move(body), version);
            if (!decoded) return tl::unexpected<error>(std::move(decoded).error());
            return any_message_ptr(std::make_unique<holder<T>>(*std::move(decoded)));
          }};
}

}  // namespace

const std::vector<message_type>& all_message_types() {
#define BRAID_DESCRIBE(type) describe<type>(),
  static const std::vector<message_type> types = {BRAID_ALL_MESSAGES(BRAID_DESCRIBE)};
#undef BRAID_DESCRIBE
  return types;
}

}  // namespace braidmq::protocol
