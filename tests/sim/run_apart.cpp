#include "run_apart.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.hpp"

namespace braidmq::sim {
namespace {

[[noreturn]] void run_child(int answers, const std::function<std::string()>& what) {
  ::dup2(answers, STDERR_FILENO);
  const std::string said = what();
  std::size_t written = 0;
  while (written < said.size()) {
    const ssize_t more = ::write(answers, said.data() + written, said.size() - written);
    if (more <= 0) std::_Exit(EXIT_FAILURE);
    written += static_cast<std::size_t>(more);
  }
  std::_Exit(EXIT_SUCCESS);
}

std::string read_all(int from) {
  std::string all;
  std::array<char, 4096> piece;
  for (ssize_t size = 0; (size = ::read(from, piece.data(), piece.size())) > 0;) {
    all.append(piece.data(), static_cast<std::size_t>(size));
  }
  return all;
}

// The line that says which of its own checks a broker has failed, or the last one.
std::string telling_line(const std::string& text) {
  const std::size_t at = std::min(text.find("check failed"), text.size());
  const std::size_t begin = text.rfind('\n', at);
  const std::size_t from = begin == std::string::npos ? 0 : begin + 1;
  return text.substr(from, text.find('\n', from) - from);
}

}  // namespace

std::string run_apart(const std::function<std::string()>& what) {
  std::array<int, 2> answers{};
  BRAID_CHECK(::pipe(answers.data()) == 0, "no pipe: {}", std::strerror(errno));
  std::fflush(stdout);
  const pid_t child = ::fork();
  BRAID_CHECK(child >= 0, "no process: {}", std::strerror(errno));
  if (child == 0) {
    ::close(answers[0]);
    run_child(answers[1], what);
  }
  ::close(answers[1]);
  std::string said = read_all(answers[0]);
  ::close(answers[0]);
  int status = 0;
  BRAID_CHECK(::waitpid(child, &status, 0) == child, "waitpid: {}", std::strerror(errno));
  if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) return said;
  return fmt::format("its own check: {} (status {})", telling_line(said), status);
}

}  // namespace braidmq::sim
