// braid-operator: runs BraidMQ clusters on Kubernetes until SIGTERM or SIGINT, then gives its Lease free.
#include <csignal>
#include <iostream>

#include <malloc.h>
#include <pthread.h>
#include <spdlog/spdlog.h>

#include "app/log.hpp"
#include "operator_app/options.hpp"
#include "operator_app/process.hpp"

namespace {

// Many threads that mostly wait: none of them needs 8 MiB of stack or a memory pool of its own.
void keep_small() {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return;
#endif
#endif
  constexpr std::size_t stack_bytes = std::size_t{512} * 1024;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
  mallopt(M_ARENA_MAX, 2);
}

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = EXIT_SUCCESS;
  const auto given = braidmq::operator_app::read_options(argc, argv, exit_code);
  if (!given) return exit_code;
  keep_small();
  braidmq::app::set_up_log(given->log_level, given->log_format);

  // Signals are taken by this thread alone, in turn; a peer that goes away is an error of a write, not a signal.
  const sigset_t signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);

  auto process = braidmq::operator_app::process::start(*given);
  if (!process) {
    std::cerr << "braid-operator: " << process.error().to_string() << std::endl;
    return EXIT_FAILURE;
  }
  spdlog::info("braid-operator {}: http on port {}", BRAID_VERSION, (*process)->port());
  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  spdlog::info("signal {}: ending", signal);
  (*process)->stop();
  spdlog::info("ended");
  return EXIT_SUCCESS;
}
