#include "bench/broker/cluster_process.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "kafka_client/client.hpp"

namespace braidmq::bench {
namespace {

constexpr auto patience = std::chrono::seconds(30);

// Of a broker; nobody else uses it while this process lives.
std::string host(std::size_t broker) {
  return fmt::format("127.{}.77.{}", 64 + ::getpid() % 128, broker + 1);
}

result<std::string> write_secret(const std::string& folder) {
  std::string path = folder + "/secret";
  std::ofstream file(path);
  file << std::string(40, 's') << '\n';
  file.close();
  if (!file) return fail(std::make_error_code(std::errc::io_error), path);
  return path;
}

}  // namespace

result<std::unique_ptr<cluster_process>> cluster_process::start(const broker_options& options) {
  std::error_code code;
  std::filesystem::create_directories(options.folder, code);
  if (code) return fail(code, options.folder);
  BRAID_TRY(secret, write_secret(options.folder));
  std::string voters;
  for (std::size_t i = 0; i < size; ++i) voters += fmt::format("{}{}@{}:9095", i == 0 ? "" : ",", i, host(i));
  std::array<broker_options, size> each;
  for (std::size_t i = 0; i < size; ++i) {
    each[i] = options;
    each[i].folder = fmt::format("{}/{}", options.folder, i);
    each[i].keys["broker.id"] = std::to_string(i);
    each[i].keys["listeners"] = fmt::format("PLAINTEXT://{}:9092", host(i));
    each[i].keys["admin.listener"] = host(i) + ":9644";
    each[i].keys["controller.listener"] = host(i) + ":9095";
    each[i].keys["braid.listener"] = host(i) + ":9094";
    each[i].keys["controller.quorum.voters"] = voters;
    each[i].keys["braid.secret.file"] = secret;
  }
  // None is ready before all are there.
  auto made = std::make_unique<cluster_process>();
  for (std::size_t i = 0; i < size; ++i) {
    BRAID_TRY(spawned, broker_process::spawn(each[i]));
    made->brokers_[i] = std::move(spawned);
  }
  for (const auto& broker : made->brokers_) BRAID_TRY_VOID(broker->wait_until_ready());
  return made;
}

result<std::size_t> cluster_process::leader_of(const std::string& topic) const {
  const io::time_point deadline = io::system_clock().now() + patience;
  kafka_client::client_options options;
  for (std::size_t i = 0; i < size; ++i) options.bootstrap.push_back({host(i), 9092});
  while (io::system_clock().now() < deadline) {
    BRAID_TRY(client, kafka_client::client::connect(options));
    BRAID_TRY(topics, client->topics({topic}));
    if (!topics.front().partitions.empty() && topics.front().partitions.front().leader.value() >= 0) {
      return static_cast<std::size_t>(topics.front().partitions.front().leader.value());
    }
    ::poll(nullptr, 0, 20);  // the next one is asked soon, not at once
  }
  return fail(std::make_error_code(std::errc::timed_out), "nobody leads " + topic);
}

status cluster_process::stop() {
  for (const auto& broker : brokers_) BRAID_TRY_VOID(broker->stop());
  return {};
}

}  // namespace braidmq::bench
