#include "config/config.hpp"
#include "ctl/commands.hpp"
#include "ctl/output.hpp"

namespace braidmq::ctl {

int check_config(context& with, const std::string& path, const std::vector<std::string>& overrides) {
  const auto read = config::load_config(path, overrides);
  if (!read) return refuse(with, read.error());
  with.out << path << " is a configuration of broker " << read->broker_id << std::endl;
  return exit_good;
}

}  // namespace braidmq::ctl
