#include "braid/entry.hpp"

#include <gtest/gtest.h>

#include "support/batches.hpp"

namespace braidmq::braid {
namespace {

TEST(Entry, ComesBackAndSharesItsBatches) {
  entry_command command;
  command.leader_time_ms = 1234;
  command.creations.push_back({sim::partition_of(1, 2), 5, 77});
  command.units.resize(2);
  command.units[0].slices.push_back({sim::partition_of(1, 0), bytes::copy_of("one")});
  command.units[0].slices.push_back({sim::partition_of(2, 9), bytes::copy_of("two")});
  const bytes payload = encode(command);
  const auto back = decode(payload);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(back->leader_time_ms, 1234);
  ASSERT_EQ(back->creations.size(), 1U);
  EXPECT_EQ(back->creations[0].target, sim::partition_of(1, 2));
  EXPECT_EQ(back->creations[0].epoch_base, 5);
  EXPECT_EQ(back->creations[0].metadata_index, 77U);
  ASSERT_EQ(back->units.size(), 2U);
  ASSERT_EQ(back->units[0].slices.size(), 2U);
  EXPECT_EQ(back->units[0].slices[1].target, sim::partition_of(2, 9));
  const bytes& batch = back->units[0].slices[1].batch;
  EXPECT_EQ(as_string_view(batch), "two");
  EXPECT_GE(batch.data(), payload.data());
  EXPECT_LE(batch.data() + batch.size(), payload.data() + payload.size());
}

TEST(Entry, OverheadBoundsWhatASliceAdds) {
  entry_command command;
  command.units.emplace_back();
  const std::size_t before = encode(command).size();
  const bytes batch = bytes::copy_of(std::string(1U << 20U, 'x'));
  for (int i = 0; i < 10; ++i) command.units[0].slices.push_back({sim::partition_of(1, i), batch});
  EXPECT_LE(encode(command).size(), before + 10 * (batch.size() + slice_overhead_bytes));
}

TEST(Entry, RefusesWhatIsNone) {
  EXPECT_FALSE(decode({}));
  EXPECT_FALSE(decode(bytes::copy_of("x")));
  byte_buffer later;
  later.append_be<std::int16_t>(99);
  EXPECT_FALSE(decode(later.freeze())) << "a version that is not known";
  const bytes whole = encode({});
  for (std::size_t length = 0; length < whole.size(); ++length) EXPECT_FALSE(decode(whole.slice(0, length))) << length;
}

}  // namespace
}  // namespace braidmq::braid
