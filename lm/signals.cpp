// Noting SIGINT, SIGTERM and SIGHUP: see signals.h.
#include "lm/signals.h"

namespace rondo {
namespace {

volatile std::sig_atomic_t received_signal = 0;

void note(int number) {
  received_signal = number;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, SIG_IGN);  // a terminal that goes away sends it more than once
}

}  // namespace

StopSignals::StopSignals() {
  received_signal = 0;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;  // a write under way goes on
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
  sigaction(SIGHUP, &action, &old_hang_up_);
  if (old_hang_up_.sa_handler == SIG_IGN) sigaction(SIGHUP, &old_hang_up_, nullptr);  // under nohup
}

StopSignals::~StopSignals() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
  sigaction(SIGHUP, &old_hang_up_, nullptr);
}

int StopSignals::received() const { return received_signal; }

}  // namespace rondo
