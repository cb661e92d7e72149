// The atomic write over the wire: every row of its map of refusals, and that nothing of a refused one is written.
#include "server/atomic_produce.hpp"

#include <cstring>
#include <ranges>

#include "model/record_batch.hpp"
#include "protocol/generated/list_offsets.hpp"
#include "support/batches.hpp"
#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using namespace std::chrono_literals;
using protocol::error_code;
using protocol::produce_request;
using sim::idempotent;

const std::vector<error_code> culprit_codes = {error_code::invalid_topic_exception,
                                               error_code::record_list_too_large,
                                               error_code::topic_authorization_failed,
                                               error_code::invalid_timestamp,
                                               error_code::invalid_request,
                                               error_code::policy_violation,
                                               error_code::unsupported_compression_type,
                                               error_code::invalid_record};

class AtomicProduceTest : public ServerTest {
 protected:
  struct wanted {
    std::string topic;
    std::optional<bytes> data;
    std::int32_t partition = 0;
  };
  struct slice_answer {
    error_code code = error_code::none;
    std::int64_t base = -1;
    std::string message;
  };

  bytes batch(model::batch_options options = {}, std::size_t size = 1) {
    return sim::make_batch({std::string(size, 'v')}, options, clock_.wall_ms());
  }

  static produce_request request_for(const std::vector<wanted>& slices, bool atomic = true) {
    produce_request request;
    request.acks = -1;
    request.timeout_ms = 5000;
    request.atomic = atomic;
    for (const wanted& one : slices) {
      auto& data = request.topic_data.emplace_back();
      data.name = one.topic;
      data.partition_data.push_back({model::partition_index(one.partition), one.data});
    }
    return request;
  }

  std::vector<slice_answer> answers_of(const protocol::produce_response& response) {
    std::vector<slice_answer> answers;
    for (const auto& topic : response.responses) {
      for (const auto& one : topic.partition_responses) {
        answers.push_back({one.error_code, one.base_offset.value(), one.error_message.value_or("")});
      }
    }
    return answers;
  }
  std::vector<slice_answer> produce(const produce_request& request, std::int16_t version = 9) {
    const auto response = ask<protocol::produce_response>(request, version);
    return response ? answers_of(*response) : std::vector<slice_answer>();
  }
  std::vector<slice_answer> write(const std::vector<wanted>& slices) { return produce(request_for(slices)); }

  // One that waits for a topic that never comes.
  std::vector<slice_answer> produce_late(const produce_request& request, std::int16_t version = 9) {
    const auto heard = send(frame_of(request, version));
    EXPECT_FALSE(heard->said) << "it waits for the metadata image";
    EXPECT_FALSE(heard->accepted);
    wait_for_image(999ms);
    EXPECT_FALSE(heard->said);
    wait_for_image(1ms);
    EXPECT_TRUE(heard->said && heard->said->has_value());
    const auto response = read<protocol::produce_response>(**heard->said, version);
    return response ? answers_of(*response) : std::vector<slice_answer>();
  }
  void wait_for_image(io::duration time) {
    control_timers_.advance(time);
    run();
  }

  std::int64_t end_of(const std::string& topic, std::int32_t partition = 0) {
    protocol::list_offsets_request request;
    auto& wanted = request.topics.emplace_back();
    wanted.name = topic;
    auto& one = wanted.partitions.emplace_back();
    one.partition_index = model::partition_index(partition);
    one.timestamp = -1;
    return ask<protocol::list_offsets_response>(request, 4)->topics.at(0).partitions.at(0).offset.value();
  }

  void make_topics() {
    for (const char* name : {"a", "b", "c"}) make_topic(name, 2);
  }
  void expect_refused(const std::vector<slice_answer>& answers, std::size_t culprit, error_code code) {
    for (std::size_t i = 0; i < answers.size(); ++i) {
      EXPECT_EQ(answers[i].code, i == culprit ? code : error_code::operation_not_attempted) << i;
      EXPECT_EQ(answers[i].base, -1);
      EXPECT_NE(answers[i].message, "");
      if (i != culprit) EXPECT_NE(answers[i].message.find("nothing of this atomic write"), std::string::npos);
    }
    for (const char* topic : {"a", "b", "c"}) EXPECT_EQ(end_of(topic), 0) << topic;
    EXPECT_GT(refusals(), std::exchange(refusals_seen_, refusals())) << "each is counted";
  }
  std::uint64_t refusals() {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < refusal_reason_count; ++i) {
      sum += broker_->refused_atomic_writes().count(static_cast<refusal_reason>(i));
    }
    return sum;
  }

  std::uint64_t refusals_seen_ = 0;
};

TEST(AtomicProduce, NoCulpritLooksRetriable) {
  for (const protocol::error_info& info : protocol::all_errors()) {
    if (info.code == error_code::none) continue;
    const error_code code = culprit_code(info.code);
    EXPECT_NE(std::ranges::find(culprit_codes, code), culprit_codes.end()) << info.name;
    EXPECT_FALSE(protocol::is_retriable(code)) << info.name;
  }
  for (const error_code code : culprit_codes) EXPECT_EQ(culprit_code(code), code);
  EXPECT_EQ(culprit_code(error_code::unknown_topic_or_partition), error_code::invalid_topic_exception);
  EXPECT_EQ(culprit_code(error_code::unknown_topic_id), error_code::invalid_topic_exception);
  EXPECT_EQ(culprit_code(error_code::message_too_large), error_code::record_list_too_large);
  EXPECT_EQ(culprit_code(error_code::corrupt_message), error_code::invalid_record);
  EXPECT_FALSE(protocol::is_retriable(error_code::operation_not_attempted));
  for (const error_code whole : {error_code::not_leader_or_follower, error_code::request_timed_out,
                                 error_code::not_enough_replicas, error_code::kafka_storage_error}) {
    EXPECT_EQ(whole_code(whole), whole);
  }
}

TEST_F(AtomicProduceTest, ThreeTopicsInOneWrite) {
  start();
  make_topics();
  for (std::int64_t round = 0; round < 3; ++round) {
    const auto answers = write({{"a", batch()}, {"b", batch()}, {"c", batch(), 1}});
    ASSERT_EQ(answers.size(), 3U);
    for (const slice_answer& one : answers) {
      EXPECT_EQ(one.code, error_code::none) << one.message;
      EXPECT_EQ(one.base, round);
    }
  }
}

TEST_F(AtomicProduceTest, AnUnknownTopicIsWaitedForAndThenRefusesAll) {
  start();
  make_topics();
  expect_refused(produce_late(request_for({{"a", batch()}, {"none", batch()}, {"b", batch()}})), 1,
                 error_code::invalid_topic_exception);
}

TEST_F(AtomicProduceTest, AnUnknownIdLikewise) {
  start();
  make_topics();
  produce_request request = request_for({{"", batch()}, {"", batch()}});
  request.topic_data[0].topic_id = broker_->image()->find("a")->id;
  request.topic_data[1].topic_id.octets[3] = 7;
  expect_refused(produce_late(request, 13), 1, error_code::invalid_topic_exception);
}

TEST_F(AtomicProduceTest, ATopicThatComesInTimeIsWritten) {
  start();
  make_topics();
  const auto heard = send(frame_of(request_for({{"a", batch()}, {"late", batch()}}), 9));
  EXPECT_FALSE(heard->said);
  wait_for_image(500ms);
  const std::int32_t asked = correlation_;
  make_topic("late", 1);
  ASSERT_TRUE(heard->said && heard->said->has_value()) << "by condition, not by the end of the time";
  correlation_ = asked;
  for (const slice_answer& one : answers_of(*read<protocol::produce_response>(**heard->said, 9))) {
    EXPECT_EQ(one.code, error_code::none) << one.message;
  }
  EXPECT_EQ(end_of("late"), 1);
}

TEST_F(AtomicProduceTest, AnUnknownPartitionRefusesAll) {
  start();
  make_topics();
  expect_refused(write({{"a", batch()}, {"b", batch(), 2}, {"c", batch()}}), 1, error_code::invalid_topic_exception);
  expect_refused(write({{"a", batch()}, {"b", batch(), -1}}), 1, error_code::invalid_topic_exception);
}

TEST_F(AtomicProduceTest, WhatTheBrokerChecksRefusesAllWithAFinalCode) {
  start();
  make_topics();
  const auto changed = [this](std::size_t at, std::byte by, bool renew_crc) {
    const bytes good = batch();
    byte_buffer copy;
    copy.append(good.view());
    copy.mutable_view()[at] ^= by;
    if (renew_crc) copy.put_be(model::batch_layout::crc, model::compute_batch_crc(copy.view()));
    return copy.freeze();
  };
  const bytes corrupt = changed(batch().size() - 1, std::byte{1}, false);
  const bytes magic_1 = changed(model::batch_layout::magic, std::byte{3}, false);
  const bytes codec_5 = changed(model::batch_layout::attributes + 1, std::byte{5}, true);
  model::batch_options transactional = idempotent(1, 0, 0);
  transactional.transactional = true;
  const bytes far_ahead = sim::make_batch({"v"}, {}, clock_.wall_ms() + 7'200'000);
  const std::vector<std::pair<std::optional<bytes>, error_code>> rows = {
      {corrupt, error_code::invalid_record},
      {magic_1, error_code::invalid_record},
      {codec_5, error_code::unsupported_compression_type},
      {std::nullopt, error_code::invalid_record},
      {bytes(), error_code::invalid_record},
      {batch(transactional), error_code::invalid_request},
      {batch({}, 2 << 20), error_code::record_list_too_large},
      {far_ahead, error_code::invalid_timestamp},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(i);
    for (std::size_t place = 0; place < 3; ++place) {
      std::vector<wanted> slices = {{"a", batch()}, {"b", batch()}, {"c", batch()}};
      slices[place].data = rows[i].first;
      expect_refused(write(slices), place, rows[i].second);
    }
  }
}

TEST_F(AtomicProduceTest, TheWordsOfARefusalAreBounded) {
  start();
  make_topics();
  std::vector<wanted> slices(20'000, wanted{"a", std::nullopt, 0});
  std::string long_name;
  while (long_name.size() < 30'000) long_name += "\xc3\xa9";
  slices[0] = {long_name, batch()};
  slices[1] = {"b", batch()};
  const auto answers = produce_late(request_for(slices));
  ASSERT_EQ(answers.size(), slices.size());
  std::size_t size = 0;
  for (const slice_answer& one : answers) size += one.message.size();
  EXPECT_LT(size, (std::size_t{1} << 20U) + 20'000 * 64);
  EXPECT_NE(answers[1].message.find("\xc3\xa9'"), std::string::npos);
  EXPECT_TRUE(protocol::is_utf8(answers[1].message)) << "cut between characters";
}

TEST_F(AtomicProduceTest, AGapOrAStaleEpochAnswers55OnEverySliceWithTheReason) {
  start();
  make_topics();
  write({{"a", batch(idempotent(1, 3, 0))}, {"b", batch(idempotent(1, 3, 0))}});
  struct row {
    model::batch_options options;
    std::string reason;
  };
  for (const row& one : {row{idempotent(1, 3, 7), "sequence number out of order"},
                         row{idempotent(1, 2, 1), "producer epoch is older"}}) {
    const auto answers = write({{"a", batch(idempotent(1, 3, 1))}, {"b", batch(one.options)}, {"c", batch()}});
    ASSERT_EQ(answers.size(), 3U);
    for (const slice_answer& answer : answers) {
      EXPECT_EQ(answer.code, error_code::operation_not_attempted);
      EXPECT_NE(answer.message.find("partition 0 of 'b': " + one.reason), std::string::npos) << answer.message;
    }
  }
  EXPECT_EQ(end_of("a"), 1);
  EXPECT_EQ(end_of("c"), 0);
  for (const slice_answer& one : write({{"a", batch(idempotent(1, 3, 1))}, {"b", batch(idempotent(1, 3, 1))}})) {
    EXPECT_EQ(one.code, error_code::none) << "the same producer goes on";
    EXPECT_EQ(one.base, 1);
  }
}

TEST_F(AtomicProduceTest, ADuplicateCountsAsDone) {
  start();
  make_topics();
  write({{"a", batch(idempotent(1, 0, 0))}, {"b", batch(idempotent(1, 0, 0))}});
  const auto again = write({{"a", batch(idempotent(1, 0, 0))}, {"b", batch(idempotent(1, 0, 1))}});
  EXPECT_EQ(again.at(0).base, 0);
  EXPECT_EQ(again.at(1).base, 1);
  EXPECT_EQ(end_of("a"), 1);
}

TEST_F(AtomicProduceTest, TooLargeForAnEntryIsSaidOfAll) {
  options_.aggregator.entry_max_bytes = 1000;
  start();
  make_topics();
  for (const slice_answer& one : write({{"a", batch({}, 600)}, {"b", batch({}, 600)}})) {
    EXPECT_EQ(one.code, error_code::record_list_too_large);
  }
  EXPECT_EQ(end_of("a"), 0);
  EXPECT_EQ(write({{"a", batch({}, 600)}}).at(0).code, error_code::none);
}

TEST_F(AtomicProduceTest, AnUnknownOutcomeIsSaidOfAll) {
  options_.linger = 10s;
  start();
  broker_->controller().create_topic({"a", 2, -1, {}}, 60s, [](auto) {});
  broker_->controller().create_topic({"b", 2, -1, {}}, 60s, [](auto) {});
  run();
  pass_time(10s);
  const auto heard = send(frame_of(request_for({{"a", batch()}, {"b", batch()}}), 9));
  pass_time(5s);
  ASSERT_TRUE(heard->said && heard->said->has_value());
  for (const slice_answer& one : answers_of(*read<protocol::produce_response>(**heard->said, 9))) {
    EXPECT_EQ(one.code, error_code::request_timed_out);
  }
}

TEST_F(AtomicProduceTest, ABrokerThatStopsSaysSoOfAll) {
  start();
  make_topics();
  broker_->stop([] {});
  run();
  for (const slice_answer& one : write({{"a", batch()}, {"b", batch()}})) {
    EXPECT_EQ(one.code, error_code::not_leader_or_follower);
  }
}

TEST_F(AtomicProduceTest, TheSettingOfTopicsBindsTheirSlicesAlone) {
  start();
  make_topic("a", 1, {{"produce.atomic", "true"}});
  make_topic("b", 1, {{"produce.atomic", "true"}});
  make_topic("c", 1);
  const auto ordinary = [this](const std::vector<wanted>& slices) { return produce(request_for(slices, false)); };
  // A culprit among the others fails alone, as in Kafka.
  auto answers = ordinary({{"a", batch()}, {"c", batch(), 5}, {"b", batch()}, {"c", batch()}, {"c", bytes()}});
  EXPECT_EQ(answers.at(0).code, error_code::none);
  EXPECT_EQ(answers.at(1).code, error_code::unknown_topic_or_partition);
  EXPECT_EQ(answers.at(2).code, error_code::none);
  EXPECT_EQ(answers.at(3).base, 0);
  EXPECT_NE(answers.at(4).code, error_code::none);
  // A culprit of the atomic part refuses it, and nothing else: found before the braid, and by it.
  answers = ordinary({{"c", batch()}, {"a", batch()}, {"b", batch(), 5}});
  EXPECT_EQ(answers.at(0).base, 1);
  EXPECT_EQ(answers.at(1).code, error_code::operation_not_attempted);
  EXPECT_EQ(answers.at(2).code, error_code::invalid_topic_exception);
  ordinary({{"a", batch(idempotent(1, 0, 0))}});
  answers = ordinary({{"a", batch(idempotent(1, 0, 5))}, {"c", batch()}, {"b", batch()}});
  EXPECT_EQ(answers.at(0).code, error_code::operation_not_attempted);
  EXPECT_EQ(answers.at(1).base, 2);
  EXPECT_EQ(answers.at(2).code, error_code::operation_not_attempted);
  EXPECT_EQ(end_of("a"), 2);
  EXPECT_EQ(end_of("b"), 1);
  // A request that has no such slice waits for nobody.
  EXPECT_EQ(ordinary({{"none", batch()}}).at(0).code, error_code::unknown_topic_or_partition);
}

TEST_F(AtomicProduceTest, TheBrokersDefaultBindsWhatDoesNotSayOtherwise) {
  options_.atomic_produce = true;
  start();
  make_topic("a", 1);
  make_topic("b", 1, {{"produce.atomic", "false"}});
  produce_request request = request_for({{"a", batch()}, {"b", batch()}, {"none", batch()}}, false);
  const auto answers = produce_late(request);
  EXPECT_EQ(answers.at(0).code, error_code::operation_not_attempted);
  EXPECT_EQ(answers.at(1).code, error_code::none);
  EXPECT_EQ(answers.at(2).code, error_code::invalid_topic_exception);
}

// The work of waiting for the topics of a set grows with its slices and topics, not with their product.
TEST(MissingTopics, EachSliceIsLookedAtOnceHoweverManyTopicsThereAre) {
  constexpr std::uint32_t topics = 5'000;
  constexpr std::int32_t partitions = 3;
  std::vector<braid::append_slice> slices;
  std::vector<expected_topic> expected;
  for (std::uint32_t i = 0; i < topics; ++i) {
    model::topic_partition_id target = sim::partition_of(9, 0);
    std::memcpy(target.topic.octets.data() + 1, &i, sizeof i);
    expected.push_back({target.topic, i});
    for (std::int32_t p = 0; p < partitions; ++p) {
      target.partition = model::partition_index(p);
      slices.push_back({target, {}});
    }
  }
  expected.push_back({sim::partition_of(8, 0).topic, 1});  // of which the set has no slice
  for (const bool half : {false, true}) {
    std::size_t looked_at = 0;
    std::size_t asked = 0;
    const auto counted = slices | std::views::transform([&](const braid::append_slice& one) -> const auto& {
                           ++looked_at;
                           return one;
                         });
    const auto is_there = [&](const model::topic_partition_id& target) {
      ++asked;
      return half && target.partition.value() < 2 && target.topic.octets[1] % 2 == 0;
    };
    const topics_by_index missing = missing_topics(counted, is_there, expected);
    EXPECT_EQ(looked_at, slices.size());
    EXPECT_EQ(asked, slices.size());
    EXPECT_EQ(missing.size(), topics);
  }
  const auto none = missing_topics(slices, [](const auto& target) { return target.partition.value() >= 0; }, expected);
  EXPECT_TRUE(none.empty());
}

// The image may know a topic before the braid has it.
class ArrivalTest : public AtomicProduceTest {
 protected:
  void produce_to(const model::topic_partition_id& target) {
    braid::produce_request request;
    request.unit = {{{target, batch()}}, 1};
    request.timeout = 30s;
    expected_topics expected{{{target.topic, 1000}}, clock_, clock_.now() + atomic_patience};
    produce_when_there(
        broker_->braid(), std::move(request), std::move(expected), [this] { accepted_ = true; },
        [this](result<braid::unit_outcome> said) { outcome_ = std::move(said); });
    run();
  }

  bool accepted_ = false;
  std::optional<result<braid::unit_outcome>> outcome_;
};

TEST_F(ArrivalTest, WhatTheBraidDoesNotHaveYetIsWaitedFor) {
  start();
  produce_to(sim::partition_of(9, 1));
  EXPECT_FALSE(accepted_) << "what comes behind it on the connection waits too";
  pass_time(500ms);
  EXPECT_FALSE(outcome_);
  broker_->braid().follow({1000, {{sim::partition_of(9, 1).topic, 2, {}, 1000}}, {}});
  run();
  ASSERT_TRUE(outcome_ && outcome_->has_value());
  EXPECT_TRUE(accepted_);
  EXPECT_FALSE((*outcome_)->slices.at(0).error) << (*outcome_)->slices.at(0).error.message();
}

TEST_F(ArrivalTest, ForASecondInAll) {
  start();
  produce_to(sim::partition_of(9, 1));
  pass_time(999ms);
  EXPECT_FALSE(outcome_);
  pass_time(1ms);
  ASSERT_TRUE(outcome_ && outcome_->has_value());
  EXPECT_EQ((*outcome_)->slices.at(0).error, braid::errc::unknown_partition);
}

// Each of very many topics may be settled at once: deleted, as far as the braid has heard.
TEST_F(ArrivalTest, ManyThatAreGoneAreNoDepthOfTheStack) {
  start();
  broker_->braid().follow({5000, {}, {}});
  run();
  braid::produce_request request;
  request.timeout = 30s;
  expected_topics expected{{}, clock_, clock_.now() + atomic_patience};
  for (std::uint32_t i = 0; i < 50'000; ++i) {
    model::topic_partition_id target = sim::partition_of(9, 0);
    std::memcpy(target.topic.octets.data() + 1, &i, sizeof i);
    request.unit.slices.push_back({target, bytes::copy_of("b")});
    expected.topics.push_back({target.topic, 1000});
  }
  request.unit.atomic_slices = request.unit.slices.size();
  bool answered = false;
  produce_when_there(
      broker_->braid(), std::move(request), std::move(expected), [] {},
      [&](const result<braid::unit_outcome>&) { answered = true; });
  broker_->braid().stop();
  run();
  EXPECT_TRUE(answered);
}

TEST_F(AtomicProduceTest, AcksZeroThatIsRefusedClosesTheConnection) {
  start();
  make_topics();
  produce_request request = request_for({{"a", batch()}, {"b", batch(), 9}});
  request.acks = 0;
  const auto heard = send(frame_of(request, 9));
  ASSERT_TRUE(heard->said);
  EXPECT_FALSE(heard->said->has_value());
  EXPECT_EQ(end_of("a"), 0);
}

}  // namespace
}  // namespace braidmq::server
