// Sessions as transcripts: what a consumer asks, and what it hears.
//
// A request is "s1 e2 +a0 -b1 v12": of the first session, epoch 2, partition 0 of topic a is named, partition 1 of b is
// forgotten, in version 12 (13 when not given). "a0=5" before it sets the end of a partition, "a0*" gives it records in
// the next answer, "a0!3" an error, "t+121" lets seconds pass. The answer is "s1: a0=5* b1!3", or the error's number.
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "server/fetch_sessions.hpp"
#include "support/manual_timers.hpp"
#include "support/sim_random.hpp"

namespace braidmq::server {
namespace {

class few_numbers final : public io::random_source {
 public:
  void fill(mutable_byte_view target) override {
    for (std::byte& byte : target) byte = static_cast<std::byte>(rng_.below(256));
  }

 private:
  sim::rng rng_{7};
};

struct partition_state {
  std::int64_t end = 0;
  std::int16_t error = 0;
  bool records = false;
  bool diverges = false;
  bool moves = false;  // its reader is sent to another replica
};

class player {
 public:
  explicit player(fetch_session_limits limits = {}) : sessions_(limits, clock_, random_) {}

  std::string play(const std::string& line) {
    std::istringstream words(line);
    protocol::fetch_request request;
    request.session_epoch = -1;
    std::int16_t version = 13;
    bool asks = false;
    for (std::string word; words >> word;) {
      if (word[0] == 's') {
        request.session_id = word == "s0" ? 0 : id_of(word);
        asks = true;
      } else if (word[0] == 'e') {
        request.session_epoch = std::stoi(word.substr(1));
      } else if (word[0] == 'v') {
        version = static_cast<std::int16_t>(std::stoi(word.substr(1)));
      } else if (word.starts_with("t+")) {
        clock_.advance(std::chrono::seconds(std::stoi(word.substr(2))));
      } else if (word[0] == '+') {
        wanted_.push_back(word.substr(1));
      } else if (word[0] == '-') {
        forgotten_.push_back(word.substr(1));
      } else {
        set(word);
      }
    }
    if (!asks) return {};
    name(request, version);
    return ask(request, version);
  }

  // A request is taken and its answer is still to be made.
  opened_fetch open(std::int32_t id, std::int32_t epoch) {
    protocol::fetch_request request;
    request.session_id = id;
    request.session_epoch = epoch;
    return sessions_.open(request, 13);
  }
  std::int32_t id_of(const std::string& word) {
    const auto found = ids_.find(word);
    return found == ids_.end() ? 999'999 : found->second;
  }
  protocol::fetch_response finish(const opened_fetch& opened) {
    protocol::fetch_response response = answer_all(opened, {});
    sessions_.finish(opened, {}, 13, response);
    return response;
  }

  fetch_sessions& sessions() { return sessions_; }

 private:
  static model::topic_id topic_id(char letter) {
    model::topic_id id;
    id.octets[0] = static_cast<std::uint8_t>(letter);
    return id;
  }
  static char letter_of(const std::string& name, const model::topic_id& id) {
    return name.empty() ? static_cast<char>(id.octets[0]) : name[0];
  }

  void set(const std::string& word) {
    partition_state& state = states_[word.substr(0, 2)];
    if (word[2] == '=') state.end = std::stoll(word.substr(3));
    if (word[2] == '!') state.error = static_cast<std::int16_t>(std::stoi(word.substr(3)));
    if (word[2] == '*') state.records = true;
    if (word[2] == '/') state.diverges = true;
    if (word[2] == '>') state.moves = true;
  }

  void name(protocol::fetch_request& request, std::int16_t version) {
    for (const std::string& word : wanted_) {
      auto& topic = request.topics.emplace_back();
      topic.topic.assign(version < 13 ? 1 : 0, word[0]);
      if (version >= 13) topic.topic_id = topic_id(word[0]);
      topic.partitions.emplace_back().partition = model::partition_index(word[1] - '0');
    }
    for (const std::string& word : forgotten_) {
      auto& topic = request.forgotten_topics_data.emplace_back();
      topic.topic.assign(version < 13 ? 1 : 0, word[0]);
      if (version >= 13) topic.topic_id = topic_id(word[0]);
      topic.partitions.push_back(model::partition_index(word[1] - '0'));
    }
    wanted_.clear();
    forgotten_.clear();
  }

  protocol::fetch_response answer_all(const opened_fetch& opened, const protocol::fetch_request& request) {
    protocol::fetch_response response;
    const auto add = [&](const std::string& topic, const model::topic_id& id, model::partition_index index) {
      auto& to = response.responses.emplace_back();
      to.topic = topic;
      to.topic_id = id;
      auto& answer = to.partitions.emplace_back();
      answer.partition_index = index;
      partition_state& state = states_[fmt::format("{}{}", letter_of(topic, id), index)];
      answer.error_code = static_cast<protocol::error_code>(state.error);
      answer.high_watermark = model::offset(state.error == 0 ? state.end : -1);
      answer.log_start_offset = model::offset(0);
      answer.records = bytes();
      if (std::exchange(state.records, false)) answer.records = bytes::copy_of("records");
      if (std::exchange(state.moves, false)) answer.preferred_read_replica = model::broker_id(2);
      if (std::exchange(state.diverges, false)) answer.diverging_epoch.end_offset = model::offset(0);
    };
    if (opened.session) {
      for (const auto& one : opened.session->partitions()) add(one.topic->name, one.topic->id, one.index);
    } else {
      for (const auto& topic : request.topics) add(topic.topic, topic.topic_id, topic.partitions[0].partition);
    }
    return response;
  }

  std::string ask(const protocol::fetch_request& request, std::int16_t version) {
    const opened_fetch opened = sessions_.open(request, version);
    if (opened.error != protocol::error_code::none) return std::to_string(static_cast<int>(opened.error));
    protocol::fetch_response response = answer_all(opened, request);
    sessions_.finish(opened, request, version, response);
    std::string said = name_of(response.session_id) + ":";
    for (const auto& topic : response.responses) {
      for (const auto& one : topic.partitions) {
        said += fmt::format(" {}{}", letter_of(topic.topic, topic.topic_id), one.partition_index);
        if (one.error_code != protocol::error_code::none)
          said += fmt::format("!{}", static_cast<int>(one.error_code));
        else
          said += fmt::format("={}", one.high_watermark);
        if (!one.records->empty()) said += "*";
        if (one.diverging_epoch.end_offset.value() >= 0) said += "/";
        if (one.preferred_read_replica != model::no_broker) said += ">";
      }
    }
    return said;
  }

  std::string name_of(std::int32_t id) {
    if (id == 0) return "s0";
    for (const auto& [name, known] : ids_) {
      if (known == id) return name;
    }
    const std::string name = fmt::format("s{}", ids_.size() + 1);
    ids_[name] = id;
    return name;
  }

  sim::manual_clock clock_;
  few_numbers random_;
  fetch_sessions sessions_;
  std::map<std::string, std::int32_t> ids_;
  std::map<std::string, partition_state> states_;
  std::vector<std::string> wanted_;
  std::vector<std::string> forgotten_;
};

struct line {
  const char* asked;
  const char* heard;
};

void expect(player& with, const std::vector<line>& lines) {
  for (const line& one : lines) EXPECT_EQ(with.play(one.asked), one.heard) << one.asked;
}

TEST(fetch_sessions, say_only_what_is_news) {
  player with;
  expect(with, {
                   {"a0=5 b1=2 s0 e0 +a0 +b1", "s1: a0=5 b1=2"},
                   {"s1 e1", "s1:"},
                   {"a0=6 a0* s1 e2", "s1: a0=6*"},
                   {"b1=3 s1 e3", "s1: b1=3"},             // a moved end without records
                   {"a0* s1 e4", "s1: a0=6*"},             // and the other way
                   {"a0!6 s1 e5", "s1: a0!6"},             // an error, as long as it lasts
                   {"s1 e6", "s1: a0!6"},                  //
                   {"a0!0 s1 e7", "s1: a0=6"},             // its end is news, though nothing moved
                   {"b1/ s1 e8", "s1: b1=3/"},             // a diverging log
                   {"a0> s1 e9", "s1: a0=6>"},             // a replica nearby to read from
                   {"s1 e10 +a2 -b1", "s1: a2=0"},         // one more, one less
                   {"b1=9 a2=1 a2* s1 e11", "s1: a2=1*"},  //
                   {"s1 e12 -a2 -a0", "s0:"},              // nothing is left: no session
                   {"s1 e13", "70"},
               });
}

TEST(fetch_sessions, refuse_what_is_not_expected) {
  player with;
  expect(with, {
                   {"s7 e1", "70"},
                   {"s0 e1", "70"},
                   {"s0 e0 +a0", "s1: a0=0"},
                   {"s1 e2", "71"},
                   {"s1 e-7", "71"},
                   {"s1 e1", "s1:"},
                   {"s1 e1", "71"},       // the same again, after a lost answer
                   {"s1 e2 v12", "106"},  // names where ids were
                   {"s1 e2", "s1:"},      // none of which harms the session
                   {"s0 e0 +b0 v12", "s2: b0=0"},
                   {"s2 e1", "106"},
                   {"s2 e1 v7", "s2:"},
               });
}

TEST(fetch_sessions, end_with_a_full_request_that_names_them) {
  player with;
  expect(with, {
                   {"s0 e0 +a0", "s1: a0=0"},
                   {"s1 e0 +a0 +a1", "s2: a0=0 a1=0"},
                   {"s1 e1", "70"},
                   {"s2 e-1 +a0", "s0: a0=0"},  // and no new one
                   {"s2 e1", "70"},
                   {"s0 e0", "s0:"},  // of no partitions
               });
  EXPECT_EQ(with.sessions().statistics().sessions, 0U);
  EXPECT_EQ(with.sessions().statistics().partitions, 0U);
  EXPECT_EQ(with.sessions().statistics().bytes, 0U);
}

TEST(fetch_sessions, read_partitions_that_gave_records_last) {
  player with;
  expect(with, {
                   {"s0 e0 +a0 +a1 +b0", "s1: a0=0 a1=0 b0=0"},
                   {"a0=1 a0* a1=1 b0=1 s1 e1", "s1: a0=1* a1=1 b0=1"},
                   {"a0=2 a0* a1=2 a1* b0=2 s1 e2", "s1: a1=2* b0=2 a0=2*"},
                   {"a0=3 a1=3 b0=3 s1 e3", "s1: b0=3 a1=3 a0=3"},
                   {"a0=4 a1=4 b0=4 s1 e4 +a1", "s1: b0=4 a1=4 a0=4"},  // a new wish does not move it
               });
}

TEST(fetch_sessions, answer_a_partition_named_twice_once) {
  player with;
  expect(with, {
                   {"a0=1 s0 e0 +a0 +a0", "s1: a0=1 a0=1"},
                   {"a0=2 s1 e1 +a0 +a0", "s1: a0=2"},
               });
  EXPECT_EQ(with.sessions().statistics().partitions, 1U);
}

TEST(fetch_sessions, epochs_begin_again_at_one) {
  fetch_session session(1, true);
  EXPECT_EQ(session.epoch(), 1);
  for (int i = 0; i < 3; ++i) session.next_epoch();
  EXPECT_EQ(session.epoch(), 4);
}

TEST(fetch_sessions, an_answer_that_a_later_request_overtook_is_refused) {
  player with;
  with.play("s0 e0 +a0");
  const std::int32_t id = with.id_of("s1");
  const opened_fetch slow = with.open(id, 1);
  const opened_fetch quick = with.open(id, 2);
  ASSERT_TRUE(slow.session && quick.session);
  const auto late = with.finish(slow);
  EXPECT_EQ(late.error_code, protocol::error_code::invalid_fetch_session_epoch);
  EXPECT_TRUE(late.responses.empty());
  EXPECT_EQ(with.finish(quick).error_code, protocol::error_code::none);
}

TEST(fetch_sessions, that_a_later_request_emptied_refuse_the_answer_under_way) {
  player with;
  with.play("s0 e0 +a0");
  const opened_fetch slow = with.open(with.id_of("s1"), 1);
  EXPECT_EQ(with.play("s1 e2 -a0"), "s0:");
  EXPECT_EQ(with.finish(slow).error_code, protocol::error_code::invalid_fetch_session_epoch);
}

TEST(fetch_sessions, that_went_while_a_request_waits_still_answer_it) {
  player with;
  with.play("s0 e0 +a0");
  const std::int32_t id = with.id_of("s1");
  const opened_fetch waiting = with.open(id, 1);
  with.play("s1 e-1");
  with.play("a0=4");
  const auto said = with.finish(waiting);
  EXPECT_EQ(said.session_id, id);
  EXPECT_EQ(said.responses.size(), 1U);
  EXPECT_EQ(with.play("s1 e2"), "70");
}

// ---- the bounds ----

TEST(fetch_sessions, of_a_full_cache_yield_when_nobody_used_them_for_two_minutes) {
  player with({.max_sessions = 2});
  expect(with, {
                   {"s0 e0 +a0", "s1: a0=0"},
                   {"s0 e0 +b0", "s2: b0=0"},
                   {"s0 e0 +a0 +b0", "s0: a0=0 b0=0"},  // larger, but the others are young
                   {"t+60 s1 e1", "s1:"},
                   {"t+60 s0 e0 +a0", "s0: a0=0"},  // of two minutes, not more
                   {"t+1 s0 e0 +a0", "s3: a0=0"},   // the place of s2
                   {"s2 e1", "70"},
                   {"s1 e2", "s1:"},
               });
  EXPECT_EQ(with.sessions().statistics().evicted, 1U);
  EXPECT_EQ(with.sessions().statistics().refused, 2U);
}

TEST(fetch_sessions, of_a_full_cache_yield_to_larger_ones_when_they_are_old) {
  player with({.max_sessions = 2});
  expect(with, {
                   {"s0 e0 +a0 +a1", "s1: a0=0 a1=0"},
                   {"s0 e0 +b0", "s2: b0=0"},
                   {"t+100 s1 e1", "s1:"},
                   {"s2 e1", "s2:"},
                   {"t+100 s1 e2", "s1:"},  // both are older than two minutes and in use
                   {"s2 e2", "s2:"},
                   {"s0 e0 +c0", "s0: c0=0"},           // as large as the smallest is not enough
                   {"s0 e0 +c0 +c1", "s3: c0=0 c1=0"},  // the place of s2
                   {"s2 e3", "70"},
                   {"s1 e3 -a0", "s1:"},  // now s1 is the smallest
                   {"s0 e0 +d0 +d1 +d2", "s4: d0=0 d1=0 d2=0"},
                   {"s1 e4", "70"},
                   {"s3 e1", "s3:"},  // young
               });
}

TEST(fetch_sessions, are_bounded_by_bytes) {
  const std::size_t room = 8'000;
  player with({.max_sessions = 1000, .max_bytes = room});
  std::size_t got = 0;
  for (int i = 0; i < 100; ++i) {
    if (!with.play("s0 e0 +a0 +b0 +c0").starts_with("s0:")) ++got;
    EXPECT_LE(with.sessions().statistics().bytes, room);
  }
  EXPECT_GT(got, 1U);
  EXPECT_LT(got, 20U);
  EXPECT_EQ(with.sessions().statistics().partitions, 3 * got);
  // One that grows beyond the room while all others are in use goes, and its client begins anew.
  std::string more = "s1 e1";
  for (char topic = 'f'; topic <= 'z'; ++topic) {
    for (char index = '0'; index <= '9'; ++index) more += std::string(" +") + topic + index;
  }
  EXPECT_EQ(with.play(more), "70");
  EXPECT_EQ(with.play("s1 e2"), "70");
  EXPECT_EQ(with.play("s2 e1"), "s2:") << "others stay";
  EXPECT_EQ(with.sessions().statistics().sessions, got - 1);
}

TEST(fetch_sessions, of_a_shard_carry_its_number) {
  sim::manual_clock clock;
  few_numbers random;
  EXPECT_EQ(share_of_one({1000, 8000}, 8).max_sessions, 125U);
  EXPECT_EQ(share_of_one({1000, 8000}, 8).max_bytes, 1000U);
  EXPECT_EQ(share_of_one({3, 8000}, 8).max_sessions, 1U);
  EXPECT_EQ(share_of_one({0, 8000}, 8).max_sessions, 0U);
  fetch_sessions third({}, clock, random, 2, 8);
  std::set<std::int32_t> seen;
  for (int i = 0; i < 200; ++i) {
    protocol::fetch_request request;
    request.session_epoch = 0;
    request.topics.emplace_back().partitions.emplace_back();
    protocol::fetch_response response;
    response.responses.emplace_back().partitions.emplace_back();
    third.finish(third.open(request, 13), request, 13, response);
    EXPECT_GT(response.session_id, 0);
    EXPECT_EQ(response.session_id % 8, 2);
    seen.insert(response.session_id);
  }
  EXPECT_EQ(seen.size(), 200U);
}

TEST(fetch_sessions, of_no_slots_are_none) {
  player with({.max_sessions = 0});
  expect(with, {{"s0 e0 +a0", "s0: a0=0"}, {"s0 e0 +a0", "s0: a0=0"}});
}

}  // namespace
}  // namespace braidmq::server
