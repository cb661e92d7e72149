// The wiring, with its real threads: what is applied is noticed by watches and made; nothing is written before
// start_working().
#include "operator_app/unit.hpp"

#include <condition_variable>
#include <mutex>

#include <nlohmann/json.hpp>

#include "support/k8s/fake_client.hpp"

namespace braidmq::operator_app {
namespace {

using namespace std::chrono_literals;

class silent_recorder final : public k8s::event_recorder {
 public:
  void record(const k8s::object_reference&, k8s::event_type, const std::string&, const std::string&,
              const std::string&) override {}
};

// Waits for a condition by watching the kind that it is about.
bool wait_until(k8s::testing::fake_client& api, const k8s::resource_type& type,
                const std::function<bool()>& condition) {
  const auto deadline = io::system_clock().now() + 20s;
  std::atomic<bool> cancel{false};
  while (!condition()) {
    if (io::system_clock().now() > deadline) return false;
    static_cast<void>(api.watch(type, {.timeout = 1s}, cancel, [&](const auto&, auto&&) { return !condition(); }));
  }
  return true;
}

TEST(unit, makes_a_cluster_of_what_is_applied_once_it_may) {
  k8s::testing::fake_client api;
  silent_recorder events;
  options given;
  given.broker_image = "braidmq:test";
  unit one(api, events, given, "shop");
  one.start_watching();
  const auto put = [&](const k8s::resource_type& type, const char* text) {
    auto object = k8s::json::parse(text);
    object["apiVersion"] = type.api_version();
    object["kind"] = type.kind;
    api.put(type, object);
  };
  put(api::cluster_type, R"({"metadata": {"name": "prod", "namespace": "shop"}, "spec": {}})");
  put(api::cluster_type, R"({"metadata": {"name": "prod", "namespace": "elsewhere"}, "spec": {}})");
  ASSERT_TRUE(
      wait_until(api, api::cluster_type, [&] { return one.not_synced().empty() && one.rows().clusters.size() == 1; }));
  EXPECT_EQ(api.writes().size(), 0U);
  EXPECT_TRUE(one.stuck().empty());

  one.start_working();
  put(api::pool_type, R"({"metadata": {"name": "prod-a", "namespace": "shop"},
                          "spec": {"clusterRef": {"name": "prod"}, "storage": {"size": "1Gi"}}})");
  EXPECT_TRUE(wait_until(api, api::stateful_set_type,
                         [&] { return api.read(api::stateful_set_type, {"shop", "prod-a"}).has_value(); }));
  put(api::topic_type,
      R"({"metadata": {"name": "orders", "namespace": "shop"}, "spec": {"clusterRef": {"name": "prod"}}})");
  EXPECT_TRUE(wait_until(api, api::topic_type,
                         [&] { return api.read(api::topic_type, {"shop", "orders"}).value().contains("status"); }));
  one.stop();
  EXPECT_FALSE(api.read(api::cluster_type, {"elsewhere", "prod"}).value().contains("status"));
}

}  // namespace
}  // namespace braidmq::operator_app
