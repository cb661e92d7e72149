#include <filesystem>

#include "bench/broker/rows.hpp"

namespace braidmq::bench {

result<broker_options> fresh_broker(const bench_options& options, const std::string& name) {
  broker_options made;
  made.program = options.program;
  made.folder = options.folder + "/" + name;
  made.keys = {{"braid.shards", "1"}, {"auto.create.topics.enable", "false"}};
  std::error_code code;
  std::filesystem::remove_all(made.folder, code);
  if (code) return fail(code, made.folder);
  std::filesystem::create_directories(made.folder, code);
  if (code) return fail(code, made.folder);
  return made;
}

}  // namespace braidmq::bench
