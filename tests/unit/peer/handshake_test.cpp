#include "peer/handshake.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "protocol/generated/peer_handshake.hpp"
#include "support/sim_random.hpp"

namespace braidmq::peer {
namespace {

class seeded_source final : public io::random_source {
 public:
  void fill(mutable_byte_view target) override {
    for (std::byte& byte : target) byte = static_cast<std::byte>(chance_.below(256));
  }

 private:
  sim::rng chance_{5};
};

uuid id_of(std::uint8_t last) {
  uuid made;
  made.octets.back() = last;
  return made;
}

const std::string old_secret(32, 'o');
const std::string new_secret(32, 'n');

struct broker {
  identity self;
  std::vector<std::string> secrets;
};

broker one() {
  return {{model::broker_id(1), id_of(11), id_of(99), 3}, {old_secret}};
}
broker two() {
  return {{model::broker_id(2), id_of(12), id_of(99), 4}, {old_secret}};
}

// What came of it, at both ends.
struct meeting {
  handshake_step opened;
  handshake_step took;
};

// `on_the_way` may change a frame (0: hello, 1: answer, 2: proof, 3: welcome).
meeting meet(
    const broker& opens, const broker& takes, model::broker_id wanted = model::broker_id(2),
    const std::function<bytes(int, bytes)>& on_the_way = [](int, bytes frame) { return frame; }) {
  seeded_source random;
  opening_handshake opening(opens.self, wanted, secrets(opens.secrets), random);
  taking_handshake taking(takes.self, secrets(takes.secrets), random);
  meeting came;
  bytes next = opening.hello();
  for (int number = 0;; ++number) {
    const bool to_taker = number % 2 == 0;
    handshake_step& step = to_taker ? came.took : came.opened;
    if (step.done || step.ended) return came;
    next = on_the_way(number, next);
    step = to_taker ? taking.take(next) : opening.take(next);
    if (!step.send) return came;
    next = *step.send;
  }
}

std::error_code code_of(const handshake_step& step) {
  return step.ended ? step.ended->code : std::error_code();
}

TEST(handshake, two_brokers_come_to_know_each_other) {
  const meeting came = meet(one(), two());
  ASSERT_TRUE(came.opened.done && came.took.done);
  EXPECT_EQ(came.opened.done->other.broker, model::broker_id(2));
  EXPECT_EQ(came.opened.done->other.incarnation, id_of(12));
  EXPECT_EQ(came.opened.done->other.newest_apply_level, 4);
  EXPECT_EQ(came.took.done->other.broker, model::broker_id(1));
  EXPECT_EQ(came.took.done->other.incarnation, id_of(11));
  EXPECT_EQ(came.took.done->other.cluster_id, id_of(99));
  EXPECT_EQ(came.took.done->version, last_version);
}

TEST(handshake, a_secret_is_replaced_one_broker_after_the_other) {
  using list = std::vector<std::string>;
  const std::vector<list> stages = {{old_secret}, {old_secret, new_secret}, {new_secret, old_secret}, {new_secret}};
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    broker first = one();
    broker second = two();
    first.secrets = stages[i];
    second.secrets = stages[i + 1];
    EXPECT_TRUE(meet(first, second).took.done) << i;
    EXPECT_TRUE(meet(second, first, model::broker_id(1)).took.done) << i;
  }
}

TEST(handshake, brokers_without_a_common_secret_part) {
  broker stranger = one();
  stranger.secrets = {new_secret};
  const meeting came = meet(stranger, two());
  EXPECT_EQ(code_of(came.took), errc::no_common_secret);
  EXPECT_EQ(code_of(came.opened), errc::no_common_secret) << "it is told why";
  EXPECT_EQ(came.opened.ended->message, "it says no more") << "and nothing else";
}

TEST(handshake, a_cluster_that_is_not_known_yet_is_no_objection) {
  broker fresh = one();
  fresh.self.cluster_id = {};
  EXPECT_TRUE(meet(fresh, two()).took.done);
  EXPECT_TRUE(meet(two(), fresh, model::broker_id(1)).took.done);
}

TEST(handshake, clusters_and_ids_are_told_apart) {
  broker other = two();
  other.self.cluster_id = id_of(98);
  EXPECT_EQ(code_of(meet(one(), other).opened), errc::other_cluster);
  EXPECT_EQ(code_of(meet(one(), two(), model::broker_id(3)).opened), errc::wrong_broker);
  broker twin = two();
  twin.self.broker = model::broker_id(1);
  const meeting of_twins = meet(one(), twin, model::broker_id(1));
  EXPECT_EQ(code_of(of_twins.opened), errc::same_broker);
  EXPECT_NE(of_twins.opened.ended->message.find("two brokers have the id 1"), std::string::npos);
  const meeting with_itself = meet(one(), one(), model::broker_id(1));
  EXPECT_NE(with_itself.opened.ended->message.find("has reached itself"), std::string::npos);
}

// An opener that does not look whom it has met, and proves itself all the same.
handshake_step prove_carelessly(const broker& opens, const broker& takes, model::broker_id wanted) {
  seeded_source random;
  const secrets known(opens.secrets);
  const opening_handshake opening(opens.self, wanted, known, random);
  taking_handshake taking(takes.self, secrets(takes.secrets), random);
  const bytes hello = opening.hello();
  const bytes answer = *taking.take(hello).send;
  byte_buffer frame;
  frame.append_be(std::int16_t{3});
  frame.append_be(std::int16_t{0});
  frame.append(byte_view(known.prove(known.names()[0], side::opened, {hello.view(), answer.view()})));
  return taking.take(frame.freeze());
}

// Who has proven itself is told in words what is wrong.
TEST(handshake, the_taker_objects_too) {
  EXPECT_TRUE(prove_carelessly(one(), two(), model::broker_id(2)).done);
  broker other = one();
  other.self.cluster_id = id_of(98);
  EXPECT_EQ(code_of(prove_carelessly(other, two(), model::broker_id(2))), errc::other_cluster);
  EXPECT_EQ(code_of(prove_carelessly(one(), two(), model::broker_id(7))), errc::wrong_broker);
  EXPECT_EQ(code_of(prove_carelessly(two(), two(), model::broker_id(2))), errc::same_broker);

  seeded_source random;
  opening_handshake opening(one().self, model::broker_id(2), secrets({old_secret}), random);
  const handshake_step told = opening.take(*prove_carelessly(other, two(), model::broker_id(2)).send);
  EXPECT_EQ(code_of(told), errc::other_cluster);
  EXPECT_NE(told.ended->message.find("it says: broker 1 is of cluster"), std::string::npos) << told.ended->message;
}

TEST(handshake, versions_meet_or_part) {
  broker newer = two();
  newer.self.last_version = 5;
  const meeting came = meet(one(), newer);
  ASSERT_TRUE(came.took.done);
  EXPECT_EQ(came.took.done->version, last_version);
  newer.self.first_version = 4;
  EXPECT_EQ(code_of(meet(one(), newer).took), errc::no_common_version);
  EXPECT_EQ(code_of(meet(newer, one(), model::broker_id(1)).opened), errc::no_common_version);
}

// Whatever byte turns over in hello, answer or proof: nobody takes the other for proven. (The welcome carries nothing.)
TEST(handshake, no_changed_byte_passes) {
  for (int number = 0; number < 3; ++number) {
    std::size_t size = 1;
    for (std::size_t at = 0; at < size; ++at) {
      for (const unsigned bit : {0U, 3U, 7U}) {
        const meeting came = meet(one(), two(), model::broker_id(2), [&](int which, bytes frame) {
          if (which != number) return frame;
          size = frame.size();
          std::vector<std::byte> changed(frame.view().begin(), frame.view().end());
          changed[at] ^= static_cast<std::byte>(1U << bit);
          return bytes::take(std::move(changed));
        });
        EXPECT_FALSE(came.took.done) << "frame " << number << ", byte " << at;
        EXPECT_FALSE(came.opened.done) << "frame " << number << ", byte " << at;
      }
    }
    EXPECT_GT(size, 30U);
  }
}

TEST(handshake, frames_that_are_cut_off_or_too_long_are_refused) {
  for (int number = 0; number < 4; ++number) {
    std::size_t size = 1;
    for (std::size_t length = 0; length < size; ++length) {
      const meeting came = meet(one(), two(), model::broker_id(2), [&](int which, bytes frame) {
        if (which != number) return frame;
        size = frame.size();
        return frame.slice(0, length);
      });
      EXPECT_TRUE(number == 3 ? !came.opened.done : !came.took.done) << "frame " << number << ", length " << length;
    }
  }
  const meeting came = meet(one(), two(), model::broker_id(2), [](int which, bytes frame) {
    return which == 0 ? bytes::take(std::vector<std::byte>(max_handshake_frame_bytes + 1)) : frame;
  });
  EXPECT_EQ(code_of(came.took), errc::bad_frame);
}

// What was heard on one connection proves nothing on another.
TEST(handshake, nothing_can_be_played_again) {
  seeded_source random;
  const secrets known({old_secret});
  opening_handshake first(one().self, model::broker_id(2), known, random);
  taking_handshake taker(two().self, known, random);
  const bytes answer = *taker.take(first.hello()).send;
  const bytes proven = *first.take(answer).send;
  ASSERT_TRUE(taker.take(proven).done);

  opening_handshake again(one().self, model::broker_id(2), known, random);
  EXPECT_EQ(code_of(again.take(answer)), errc::bad_proof);
  taking_handshake fresh(two().self, known, random);
  ASSERT_TRUE(fresh.take(first.hello()).send);
  EXPECT_EQ(code_of(fresh.take(proven)), errc::bad_proof);
}

TEST(handshake, frames_out_of_turn_end_it) {
  seeded_source random;
  const secrets known({old_secret});
  const opening_handshake opening(one().self, model::broker_id(2), known, random);
  taking_handshake taker(two().self, known, random);
  ASSERT_TRUE(taker.take(opening.hello()).send);
  EXPECT_EQ(code_of(taker.take(opening.hello())), errc::bad_frame) << "a second hello";
  opening_handshake other(one().self, model::broker_id(2), known, random);
  EXPECT_EQ(code_of(other.take(opening.hello())), errc::bad_frame) << "a hello for an answer";
}

TEST(handshake, the_words_of_a_refusal_are_bounded_and_of_one_line) {
  seeded_source random;
  opening_handshake opening(one().self, model::broker_id(2), secrets({old_secret}), random);
  protocol::peer_refusal refusal;
  refusal.reason = 12345;
  refusal.words = "first\nsecond" + std::string(2000, 'x');
  byte_buffer frame;
  frame.append_be(std::int16_t{5});
  frame.append_be(std::int16_t{0});
  ASSERT_TRUE(refusal.encode(frame, 0));
  const handshake_step told = opening.take(frame.freeze());
  ASSERT_TRUE(told.ended);
  EXPECT_LE(told.ended->message.size(), 600U);
  EXPECT_NE(told.ended->message.find("first second"), std::string::npos);
  EXPECT_FALSE(told.send) << "a refusal is not answered";
}

}  // namespace
}  // namespace braidmq::peer
