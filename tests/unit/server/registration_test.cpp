// What a broker says of itself in the metadata log: its life, its listeners, whether it drains.
#include "protocol/generated/metadata.hpp"
#include "storage/data_folder.hpp"
#include "unit/server/server_fixture.hpp"

namespace braidmq::server {
namespace {

using namespace std::chrono_literals;

class RegistrationTest : public ServerTest {
 protected:
  void stop() {
    broker_->stop([] {});
    run();
    dispatcher_.reset();
    broker_.reset();
    run();
  }
  void restart() {
    stop();
    start();
  }

  // What a client hears that connects by this listener: "host:port", or nothing.
  std::string heard_by(const std::string& listener) {
    connection_->listener = listener;
    protocol::metadata_request request;
    request.topics.emplace();
    const auto response = ask<protocol::metadata_response>(request, 12);
    if (!response || response->brokers.empty()) return "nothing";
    EXPECT_EQ(response->brokers.size(), 1U);
    return response->brokers[0].host + ":" + std::to_string(response->brokers[0].port);
  }
  status change(const std::function<void(metadata::broker_registration&)>& how) {
    status said = fail(std::make_error_code(std::errc::timed_out), "no answer");
    broker_->controller().change_registration(how, 5s, [&](status done) { said = std::move(done); });
    run();
    return said;
  }
  const metadata::broker_registration& own() { return broker_->image()->brokers().at(options_.id); }

  // Opens and starts without expecting it to become ready.
  void try_to_start() {
    begin();
    run();
  }
  void begin() {
    auto opened = broker::open(
        options_, {fs_, clock_, random_, control_, control_timers_, disk_, shard_, shard_timers_, disk_, disk_, disk_},
        [this](const error& why) { fatal_ = why.to_string(); });
    ASSERT_TRUE(opened) << opened.error().to_string();
    broker_ = std::move(*opened);
    broker_->start();
  }
};

TEST_F(RegistrationTest, MetadataAnswersWithTheListenerThatTheClientCameBy) {
  options_.advertised = {{"PLAINTEXT", "pod-0.svc", 9092}, {"SECOND", "second.example", 9999}};
  options_.pushed = {"OUT"};
  start();
  EXPECT_EQ(heard_by("PLAINTEXT"), "pod-0.svc:9092");
  EXPECT_EQ(heard_by("SECOND"), "second.example:9999");
  EXPECT_EQ(heard_by("OUT"), "nothing") << "another listener's address would send clients astray";
  ASSERT_TRUE(change([](auto& own) { own.listeners.push_back({"OUT", "10.0.0.1", 30092}); }));
  EXPECT_EQ(heard_by("OUT"), "10.0.0.1:30092");
  ASSERT_TRUE(change([](auto& own) { own.listeners.back().host = "10.0.0.2"; }));
  EXPECT_EQ(heard_by("OUT"), "10.0.0.2:30092") << "changed without a restart";
  EXPECT_EQ(heard_by("PLAINTEXT"), "pod-0.svc:9092");
  restart();
  EXPECT_EQ(heard_by("OUT"), "10.0.0.2:30092") << "known again after a restart";
}

TEST_F(RegistrationTest, ARestartSaysItAnewAndOnlyWhenItDiffers) {
  options_.pushed = {"OUT"};
  start();
  ASSERT_TRUE(change([](auto& own) { own.listeners.push_back({"OUT", "10.0.0.1", 30092}); }));
  restart();
  const std::uint64_t before = broker_->image()->index();
  EXPECT_EQ(own().listeners.size(), 2U);
  restart();
  EXPECT_EQ(broker_->image()->index(), before + 1) << "the new term's own entry, and no registration";
  options_.advertised = {{"PLAINTEXT", "moved.example", 1}};
  options_.pushed = {};
  restart();
  EXPECT_EQ(own().listeners, (std::vector<metadata::advertised_listener>{{"PLAINTEXT", "moved.example", 1}}));
}

TEST_F(RegistrationTest, ChangesAtOnceBuildOnEachOther) {
  start();
  int answered = 0;
  for (int i = 0; i < 5; ++i) {
    broker_->controller().change_registration(
        [i](auto& own) { own.listeners.push_back({"L" + std::to_string(i), "h", 1}); }, 5s,
        [&](const status& done) {
          EXPECT_TRUE(done);
          ++answered;
        });
  }
  run();
  EXPECT_EQ(answered, 5);
  EXPECT_EQ(own().listeners.size(), 6U);
}

// Whatever moment of the start a change meets, it must not bring back what was said in the run before.
TEST_F(RegistrationTest, AChangeDuringTheStartBuildsOnWhatIsSaidAnew) {
  start();
  ASSERT_TRUE(change([](auto& own) { own.draining = true; }));
  stop();
  options_.advertised = {{"PLAINTEXT", "moved.example", 1}};
  begin();
  int tries = 0;
  bool changed = false;
  for (bool more = true; more && !changed; more = loop_.run_one() || context_.poll_one() > 0) {
    context_.restart();
    ++tries;
    broker_->controller().change_registration([](auto& own) { own.listeners.push_back({"X", "x.example", 2}); }, 5s,
                                              [&](const status& done) { changed = changed || done.has_value(); });
  }
  run();  // those that are under way refer to this frame
  EXPECT_TRUE(changed);
  EXPECT_GT(tries, 10) << "it was asked for at many moments";
  EXPECT_FALSE(own().draining);
  EXPECT_EQ(own().find("PLAINTEXT")->host, "moved.example");
  EXPECT_NE(own().find("X"), nullptr);
}

TEST_F(RegistrationTest, DrainingIsSaidAndForgottenByARestart) {
  start();
  EXPECT_FALSE(broker_->drain().state().draining);
  std::optional<result<drain_state>> said;
  broker_->drain().begin(120s, [&](auto done) { said = std::move(done); });
  EXPECT_FALSE(said) << "never inside the call";
  run();
  ASSERT_TRUE(said && said->has_value());
  EXPECT_TRUE((*said)->draining);
  EXPECT_TRUE((*said)->last_broker);
  EXPECT_EQ((*said)->leaderships, 0);
  EXPECT_TRUE(own().draining);
  EXPECT_EQ(broker_->readiness(), (std::vector<std::string>{"the broker drains"}));
  restart();
  EXPECT_FALSE(own().draining);
  EXPECT_FALSE(broker_->drain().state().draining);
}

TEST_F(RegistrationTest, AnEndWhileAnswersAreDueAnswersThem) {
  start();
  std::optional<bool> good;
  broker_->stop([] {});
  broker_->drain().begin(1s, [&](const auto& done) { good = done.has_value(); });
  run();
  pass_time(10s);
  EXPECT_EQ(good, false);
}

TEST_F(RegistrationTest, FoldersOfAnotherClusterAreRefused) {
  options_.cluster_id = uuid::parse("AAAAAAAAAAAAAAAAAAAAAQ");
  start();
  EXPECT_EQ(broker_->image()->cluster_id(), *options_.cluster_id);
  stop();
  options_.cluster_id = uuid::parse("AAAAAAAAAAAAAAAAAAAAAg");
  // Before the logs get an entry of this start.
  broker_environment environment{fs_,           clock_, random_, control_, control_timers_, disk_, shard_,
                                 shard_timers_, disk_,  disk_,   disk_};
  const auto opened = broker::open(options_, environment, [](const error&) {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, storage::folder_errc::mixed);
  EXPECT_NE(opened.error().message.find(
                "/data belongs to cluster AAAAAAAAAAAAAAAAAAAAAQ, but cluster.id is AAAAAAAAAAAAAAAAAAAAAg"),
            std::string::npos)
      << opened.error().to_string();
}

TEST_F(RegistrationTest, AClaimedIdUnderAnotherLifeIsRefused) {
  start();
  stop();
  // The folders' identity is replaced, as when a folder is formatted anew around an old log.
  sim::sim_file_system other(9);
  {
    ASSERT_TRUE(storage::data_folders::open(other, random_, {"/data", "/data/wal", options_.id}));
  }
  for (const char* path : {"/data/braidmq.identity", "/data/wal/braidmq.identity"}) {
    ASSERT_TRUE(io::write_file_atomically(fs_, path, io::read_file(other, path, 4096).value()));
  }
  try_to_start();
  EXPECT_NE(fatal_.find("broker id 0 belongs to life"), std::string::npos) << fatal_;
}

TEST_F(RegistrationTest, WhoMayNotFoundNeverFounds) {
  {
    ASSERT_TRUE(storage::data_folders::open(fs_, random_, {"/data", "/data/wal", options_.id}));
  }
  options_.may_found = false;
  try_to_start();
  EXPECT_NE(fatal_.find("the metadata log of this broker names no cluster"), std::string::npos) << fatal_;
  EXPECT_TRUE(broker_->image()->cluster_id().is_zero());
}

TEST_F(RegistrationTest, AnExistingBrokerStartsUnderExisting) {
  start();
  options_.may_found = false;
  restart();
  EXPECT_EQ(fatal_, "");
}

}  // namespace
}  // namespace braidmq::server
