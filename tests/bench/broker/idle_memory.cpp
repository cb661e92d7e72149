#include <fmt/format.h>

#include "bench/broker/rows.hpp"

namespace braidmq::bench {

result<std::vector<row>> idle_memory(const bench_options& options) {
  constexpr double most_mib = 48;
  constexpr auto idle_for = std::chrono::seconds(3);
  BRAID_TRY(settings, fresh_broker(options, "idle"));
  BRAID_TRY(broker, broker_process::start(settings));
  BRAID_TRY_VOID(broker->stays_up_for(idle_for));
  BRAID_TRY(mib, resident_mib(broker->where().pid, "VmRSS"));
  BRAID_TRY_VOID(broker->stop());
  row made;
  made.what = "Resident memory, idle";
  made.measured = fmt::format("{:.1f} MiB", mib);
  made.wanted = fmt::format("< {:.0f} MiB", most_mib);
  made.held = mib < most_mib;
  made.figures = {{"resident_mib", mib}};
  return std::vector<row>{made};
}

}  // namespace braidmq::bench
