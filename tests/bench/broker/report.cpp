#include "bench/broker/report.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace braidmq::bench {
namespace {

std::string_view verdict(const row& one) {
  if (!one.held) return "-";
  return *one.held ? "yes" : "MISSED";
}

std::string words_of(const std::array<double, 3>& loads) {
  return fmt::format("{:.2f} {:.2f} {:.2f}", loads[0], loads[1], loads[2]);
}

}  // namespace

std::size_t report::missed() const {
  return static_cast<std::size_t>(std::ranges::count_if(rows, [](const row& one) { return one.held == false; }));
}

std::string to_table(const report& of) {
  std::size_t what = 4;
  std::size_t measured = 8;
  std::size_t wanted = 6;
  for (const row& one : of.rows) {
    what = std::max(what, one.what.size());
    measured = std::max(measured, one.measured.size());
    wanted = std::max(wanted, one.wanted.size());
  }
  std::string text =
      fmt::format("{} | {} | {} | {}\nload average before {}, after {}\n\n", of.where.cpu, of.where.kernel,
                  of.where.file_system, of.build, words_of(of.load_before), words_of(of.load_after));
  const auto line = [&](std::string_view a, std::string_view b, std::string_view c, std::string_view d) {
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", a, what, b, measured, c, wanted, d);
  };
  line("WHAT", "MEASURED", "TARGET", "HELD");
  for (const row& one : of.rows) {
    line(one.what, one.measured, one.wanted.empty() ? "-" : one.wanted, verdict(one));
    if (!one.note.empty()) text += fmt::format("    {}\n", one.note);
  }
  return text + fmt::format("\n{} targets missed\n", of.missed());
}

status write_json(const report& of, const std::string& path) {
  nlohmann::json all;
  all["cpu"] = of.where.cpu;
  all["kernel"] = of.where.kernel;
  all["file_system"] = of.where.file_system;
  all["build"] = of.build;
  all["load_before"] = of.load_before;
  all["load_after"] = of.load_after;
  for (const row& one : of.rows) {
    nlohmann::json shown{{"what", one.what}, {"measured", one.measured}, {"figures", one.figures}};
    if (one.held) shown["held"] = *one.held;
    if (!one.wanted.empty()) shown["target"] = one.wanted;
    if (!one.note.empty()) shown["note"] = one.note;
    all["rows"].push_back(std::move(shown));
  }
  std::ofstream file(path);
  file << all.dump(2) << '\n';
  file.close();
  if (!file) return fail(std::error_code(errno, std::generic_category()), path);
  return {};
}

}  // namespace braidmq::bench
