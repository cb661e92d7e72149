#include "metadata/command.hpp"

#include <gtest/gtest.h>

#include "protocol/generated/metadata_records.hpp"
#include "unit/metadata/ids.hpp"

namespace braidmq::metadata {
namespace {

TEST(Command, EveryKindComesBack) {
  const std::vector<command> all{
      found_cluster{id_of(1)},
      register_broker{model::broker_id(3),
                      {id_of(2), true, {{"PLAINTEXT", "broker.example", 9092}, {"OUT", "::1", 65535}}}},
      register_broker{model::broker_id(3), {id_of(2), false, {{"PLAINTEXT", "broker.example", 9092}}, "east-1"}},
      create_topic{"orders", id_of(4), 12, {{"max.message.bytes", "1000"}, {"min.insync.replicas", "2"}}},
      allocate_producer_ids{model::broker_id(3)},
      alter_topic{id_of(4), 24, {{"max.message.bytes", "2000"}, {"min.insync.replicas", std::nullopt}}},
      alter_topic{id_of(4), 0, {}},
      delete_topic{id_of(4)},
  };
  for (const command& one : all) {
    const auto back = decode(encode(one));
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(*back, one);
  }
}

TEST(Command, ARegistrationOfVersion1HasNoRack) {
  protocol::metadata_register_broker record;
  record.broker_id = model::broker_id(3);
  record.incarnation = id_of(2);
  record.draining = true;
  record.listeners.push_back({"PLAINTEXT", "broker.example", 9092});
  byte_buffer old;
  old.append_be<std::int16_t>(2);
  old.append_be<std::int16_t>(1);
  ASSERT_TRUE(record.encode(old, 1));
  const auto back = decode(old.freeze());
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(*back, command(register_broker{model::broker_id(3),
                                           {id_of(2), true, {{"PLAINTEXT", "broker.example", 9092}}, std::nullopt}}));
}

// What the versions before wrote is read for ever.
TEST(Command, OldBytesStillDecode) {
  const auto of = [](std::initializer_list<int> octets) {
    byte_buffer buffer;
    for (const int octet : octets) buffer.append_be(static_cast<std::uint8_t>(octet));
    return buffer.freeze();
  };
  const auto topic = decode(of({0, 3, 0, 0, 4, 'a', '.', 'b',                            // kind, version, name
                                9, 0, 0, 0, 0, 0,   0,   0,   0,   0, 0, 0, 0, 0, 0, 0,  // id
                                0, 0, 0, 7, 2, 2,   'k', 2,   'v', 0, 0}));              // partitions, one config
  ASSERT_TRUE(topic) << topic.error().to_string();
  EXPECT_EQ(*topic, command(create_topic{"a.b", id_of(9), 7, {{"k", "v"}}}));
  const auto ids = decode(of({0, 4, 0, 0, 0, 0, 0, 5, 0}));
  ASSERT_TRUE(ids) << ids.error().to_string();
  EXPECT_EQ(*ids, command(allocate_producer_ids{model::broker_id(5)}));
}

TEST(Command, ARegistrationOfVersion0HasNoListeners) {
  byte_buffer old;
  old.append_be<std::int16_t>(2);
  old.append_be<std::int16_t>(0);
  old.append_be<std::int32_t>(3);
  old.append(as_byte_view(std::string_view("\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 17)));  // no tagged fields
  const auto back = decode(old.freeze());
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(*back, command(register_broker{model::broker_id(3), {id_of(2), false, {}}}));
}

TEST(Command, RefusesUnknownKindsVersionsAndCutOnes) {
  const std::vector<command> whole{create_topic{"orders", id_of(4), 12, {{"a", "b"}}},
                                   alter_topic{id_of(4), 12, {{"a", "b"}, {"c", std::nullopt}}},
                                   delete_topic{id_of(4)}};
  for (const command& one : whole) {
    const bytes good = encode(one);
    for (std::size_t length = 0; length < good.size(); ++length) EXPECT_FALSE(decode(good.slice(0, length))) << length;
  }
  byte_buffer unknown;
  unknown.append_be<std::int16_t>(99);
  unknown.append_be<std::int16_t>(0);
  EXPECT_FALSE(decode(unknown.freeze()));
  byte_buffer later;
  later.append_be<std::int16_t>(1);
  later.append_be<std::int16_t>(99);
  EXPECT_FALSE(decode(later.freeze()));
}

}  // namespace
}  // namespace braidmq::metadata
