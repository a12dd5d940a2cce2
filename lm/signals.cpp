// Noting SIGINT and SIGTERM: see signals.h.
#include "lm/signals.h"

namespace rondo {
namespace {

volatile std::sig_atomic_t received_signal = 0;

void note(int number) {
  received_signal = number;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

StopSignals::StopSignals() {
  received_signal = 0;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;  // a write under way goes on
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

StopSignals::~StopSignals() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

int StopSignals::received() const { return received_signal; }

}  // namespace rondo
