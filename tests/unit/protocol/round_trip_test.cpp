// Every message, every version, seeded random values: what is encoded comes back equal, and nothing shorter or longer
// is accepted.
#include <gtest/gtest.h>

#include "protocol/errc.hpp"
#include "unit/protocol/any_message.hpp"
#include "unit/protocol/hex.hpp"

namespace braidmq::protocol {
namespace {

constexpr int values_per_version = 40;

bytes encoded(const any_message& value, std::int16_t version) {
  byte_buffer buffer;
  const status outcome = value.encode(buffer, version);
  EXPECT_TRUE(outcome) << outcome.error().to_string() << " in v" << version << " " << value.to_json();
  return buffer.freeze();
}

class round_trip : public testing::TestWithParam<message_type> {
 protected:
  // Calls `test(version, random)` for each version; a failure names the version.
  template <class Test>
  void for_each_version(std::uint64_t seed, Test test) {
    for (std::int16_t version = GetParam().min_version; version <= GetParam().max_version; ++version) {
      SCOPED_TRACE(std::string(GetParam().name) + " v" + std::to_string(version));
      random_source random(seed + static_cast<std::uint64_t>(version));
      test(version, random);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(round_trip, decodes_what_it_encodes) {
  for_each_version(1, [](std::int16_t version, random_source& random) {
    for (int i = 0; i < values_per_version; ++i) {
      const any_message_ptr value = GetParam().make_random(random, version);
      const bytes body = encoded(*value, version);
      const auto decoded = GetParam().decode(body, version);
      ASSERT_TRUE(decoded) << decoded.error().to_string() << " in " << value->to_json() << "\n" << to_hex(body);
      ASSERT_TRUE((*decoded)->equals(*value)) << value->to_json() << "\n"
                                              << (*decoded)->to_json() << "\n"
                                              << to_hex(body);
    }
  });
}

TEST_P(round_trip, default_value_survives_every_version) {
  for_each_version(0, [](std::int16_t version, random_source&) {
    const any_message_ptr value = GetParam().make_default();
    const auto decoded = GetParam().decode(encoded(*value, version), version);
    ASSERT_TRUE(decoded) << decoded.error().to_string();
    EXPECT_TRUE((*decoded)->equals(*value)) << (*decoded)->to_json();
  });
}

// Row F7: trailing bytes; and every cut of a valid body is refused, never read past.
TEST_P(round_trip, refuses_every_other_length) {
  for_each_version(77, [](std::int16_t version, random_source& random) {
    const any_message_ptr value = GetParam().make_random(random, version);
    byte_buffer buffer;
    ASSERT_TRUE(value->encode(buffer, version));
    buffer.append_zeros(1);
    const bytes longer = buffer.freeze();
    const auto trailing = GetParam().decode(longer, version);
    ASSERT_FALSE(trailing) << value->to_json();
    EXPECT_EQ(trailing.error().code, errc::malformed);
    for (std::size_t size = 0; size + 1 < longer.size(); ++size) {
      // A fresh block of just that size, so that the sanitizer sees any read beyond it.
      EXPECT_FALSE(GetParam().decode(bytes::copy_of(longer.view().first(size)), version))
          << "cut to " << size << " of " << value->to_json();
    }
  });
}

// Whatever the damage, the decoder answers; what it accepts it can also encode again.
TEST_P(round_trip, survives_damaged_bytes) {
  for_each_version(4711, [](std::int16_t version, random_source& random) {
    for (int i = 0; i < values_per_version; ++i) {
      byte_buffer buffer;
      ASSERT_TRUE(GetParam().make_random(random, version)->encode(buffer, version));
      if (buffer.size() == 0) continue;
      for (int hits = 0; hits < 3; ++hits) {
        buffer.mutable_view()[random.integer<std::uint16_t>() % buffer.size()] =
            std::byte{random.integer<std::uint8_t>()};
      }
      const auto decoded = GetParam().decode(buffer.freeze(), version);
      if (!decoded) continue;
      const auto twice = GetParam().decode(encoded(**decoded, version), version);
      ASSERT_TRUE(twice) << (*decoded)->to_json();
      ASSERT_TRUE((*twice)->equals(**decoded)) << (*decoded)->to_json();
    }
  });
}

TEST_P(round_trip, refuses_versions_outside_of_its_range) {
  for (const int version : {GetParam().min_version - 1, GetParam().max_version + 1}) {
    const auto outside = static_cast<std::int16_t>(version);
    byte_buffer buffer;
    EXPECT_EQ(GetParam().make_default()->encode(buffer, outside).error().code, errc::unsupported_version);
    EXPECT_EQ(GetParam().decode(bytes{}, outside).error().code, errc::unsupported_version);
  }
}

INSTANTIATE_TEST_SUITE_P(every_message, round_trip, testing::ValuesIn(all_message_types()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace braidmq::protocol
