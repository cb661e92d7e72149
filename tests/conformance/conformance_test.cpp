// conformance_test <schemas.json> [kafka-clients.jar]
//
// Compares every wire schema of ours with the one inside Apache Kafka's own client jar, version by version, and says
// how much it compared. Without the jar, or with nothing to compare, it fails: a check that was not made is no pass.
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include "conformance/jar_reader.hpp"
#include "conformance/schema_model.hpp"

namespace {

using namespace braidmq::conformance;

constexpr const char* how_to_get_the_jar =
    "This test needs kafka-clients-4.4.0.jar of Apache Kafka. Fetch it with\n"
    "  mvn dependency:copy -Dartifact=org.apache.kafka:kafka-clients:4.4.0 -DoutputDirectory=build/deps\n"
    "and name it as the second argument, in the environment variable BRAID_KAFKA_CLIENTS_JAR, or with\n"
    "  cmake -DBRAID_KAFKA_CLIENTS_JAR=<path>\n";

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path + " cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string jar_path(int argc, char** argv) {
  if (argc > 2 && *argv[2] != '\0') return argv[2];
  const char* from_environment = std::getenv("BRAID_KAFKA_CLIENTS_JAR");
  return from_environment == nullptr ? "" : from_environment;
}

bool is_schema(std::string_view name) {
  return name.starts_with("common/message/") && name.ends_with(".json");
}

int run(const std::string& ours_path, const std::string& jar) {
  const std::vector<schema> ours = parse_ours(read_file(ours_path));
  const auto files = read_jar(jar, is_schema);
  int schemas = 0;
  int versions = 0;
  int differences = 0;
  for (const schema& s : ours) {
    if (s.kind == "record") continue;  // our own formats on disk
    const auto file = files.find("common/message/" + s.name + ".json");
    if (file == files.end()) {
      std::cout << fmt::format("{}: Kafka has no such schema\n", s.name);
      ++differences;
      continue;
    }
    const comparison outcome = compare(s, parse_kafka(file->second));
    for (const std::string& text : outcome.differences) std::cout << text << '\n';
    ++schemas;
    versions += outcome.versions;
    differences += static_cast<int>(outcome.differences.size());
  }
  std::cout << fmt::format("compared {} schemas, {} versions: {} differences\n", schemas, versions, differences);
  return schemas > 0 && differences == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: conformance_test <schemas.json> [kafka-clients.jar]\n";
    return 2;
  }
  const std::string jar = jar_path(argc, argv);
  if (jar.empty() || !std::ifstream(jar)) {
    std::cerr << (jar.empty() ? std::string("No jar was given.") : jar + " is not there.") << '\n'
              << how_to_get_the_jar;
    return 1;
  }
  try {
    return run(argv[1], jar);
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
