#include "bench/broker/broker_process.hpp"

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace braidmq::bench {
namespace {

constexpr auto start_deadline = std::chrono::seconds(120);

tl::unexpected<error> failed(const std::string& what) {
  return fail(std::error_code(errno, std::generic_category()), what);
}

std::string end_of(const std::string& path) {
  constexpr std::size_t most = 2000;
  std::ifstream file(path);
  std::stringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  return text.size() > most ? text.substr(text.size() - most) : text;
}

result<std::string> write_config(const broker_options& options) {
  std::error_code code;
  std::filesystem::create_directories(options.folder, code);
  if (code) return fail(code, options.folder);
  std::string path = options.folder + "/broker.yaml";
  std::ofstream file(path);
  std::map<std::string, std::string> keys = options.keys;
  keys.try_emplace("listeners", "PLAINTEXT://127.0.0.1:0");
  keys.try_emplace("admin.listener", "127.0.0.1:0");
  keys.try_emplace("data.dir", options.folder + "/data");
  keys.try_emplace("wal.dir", options.folder + "/wal");
  for (const auto& [key, value] : keys) file << fmt::format("{}: {}\n", key, value);
  file.close();
  if (!file) return failed(path);
  return path;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Between fork and exec nothing but system calls: other threads of this process may hold any lock.
[[noreturn]] void become(const char* program, char* const* arguments, char* const* environment, int output, int log) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  ::execve(program, arguments, environment);
  ::_exit(127);
}

}  // namespace

result<std::unique_ptr<broker_process>> broker_process::start(const broker_options& options) {
  BRAID_TRY(made, spawn(options));
  BRAID_TRY_VOID(made->wait_until_ready());
  return std::move(made);
}

result<std::unique_ptr<broker_process>> broker_process::spawn(const broker_options& options) {
  BRAID_TRY(config, write_config(options));
  std::vector<std::string> arguments{options.program, "--config", config};
  std::vector<std::string> environment = options.environment;
  for (char** one = environ; *one != nullptr; ++one) environment.emplace_back(*one);
  const auto argument_pointers = pointers_to(arguments);
  const auto environment_pointers = pointers_to(environment);
  const std::string log_path = options.folder + "/log.txt";
  const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) return failed(log_path);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("pipe");

  const io::time_point before = io::system_clock().now();
  const pid_t pid = ::fork();
  if (pid == 0) become(options.program.c_str(), argument_pointers.data(), environment_pointers.data(), ends[1], log);
  ::close(ends[1]);
  ::close(log);
  std::unique_ptr<broker_process> made(new broker_process);
  made->output_ = ends[0];
  if (pid < 0) return failed("fork");
  made->where_.pid = pid;
  made->log_ = log_path;
  made->begun_ = before;
  return made;
}

status broker_process::wait_until_ready() {
  static const std::regex ready(R"(braid-broker ready: kafka (\S+), admin http://(\S+)\n)");
  const io::time_point deadline = io::system_clock().now() + start_deadline;
  std::string said;
  std::smatch found;
  while (!std::regex_search(said, found, ready)) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - io::system_clock().now()).count();
    pollfd watched{.fd = output_, .events = POLLIN, .revents = 0};
    if (left <= 0 || (::poll(&watched, 1, static_cast<int>(left)) < 0 && errno != EINTR)) {
      return fail(std::make_error_code(std::errc::timed_out), "the broker was not ready in time\n" + end_of(log_));
    }
    if (watched.revents == 0) continue;
    char block[512];
    const ssize_t got = ::read(output_, block, sizeof(block));
    if (got <= 0) {
      return fail(std::make_error_code(std::errc::no_child_process), "the broker ended at its start\n" + end_of(log_));
    }
    said.append(block, static_cast<std::size_t>(got));
  }
  BRAID_TRY(kafka, io::parse_endpoint(found[1].str()));
  BRAID_TRY(admin, io::parse_endpoint(found[2].str()));
  where_.kafka = kafka;
  admin_ = admin;
  start_took_ = io::system_clock().now() - begun_;
  return {};
}

status broker_process::stays_up_for(std::chrono::milliseconds time) const {
  pollfd watched{.fd = output_, .events = 0, .revents = 0};  // the end of the last writer shows even so
  if (::poll(&watched, 1, static_cast<int>(time.count())) <= 0) return {};
  return fail(std::make_error_code(std::errc::no_child_process), "the broker ended by itself");
}

void broker_process::kill() {
  if (where_.pid <= 0) return;
  ::kill(where_.pid, SIGKILL);
  ::waitpid(where_.pid, nullptr, 0);
  where_.pid = 0;
}

status broker_process::stop() {
  if (where_.pid <= 0) return {};
  ::kill(where_.pid, SIGTERM);
  // The broker's own end is bounded by seconds.
  int how = 0;
  ::waitpid(where_.pid, &how, 0);
  where_.pid = 0;
  if (WIFEXITED(how) && WEXITSTATUS(how) == 0) return {};
  return fail(std::make_error_code(std::errc::state_not_recoverable), fmt::format("the broker ended with {}", how));
}

broker_process::~broker_process() {
  kill();
  if (output_ >= 0) ::close(output_);
}

result<double> cpu_seconds(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/stat", pid);
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  // The name in parentheses may hold anything; user and system time are the 14th and 15th of all.
  const auto end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return fail(std::make_error_code(std::errc::no_such_process), path);
  std::istringstream rest(text.substr(end_of_name + 1));
  std::string skipped;
  for (int i = 3; i < 14; ++i) rest >> skipped;
  double user = 0;
  double system = 0;
  if (!(rest >> user >> system)) return fail(std::make_error_code(std::errc::bad_message), path);
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

result<double> resident_mib(pid_t pid, const std::string& field) {
  const std::string path = fmt::format("/proc/{}/status", pid);
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    double kib = 0;
    if (word == field + ":" && file >> kib) return kib / 1024;
  }
  return fail(std::make_error_code(std::errc::no_such_process), path);
}

}  // namespace braidmq::bench
