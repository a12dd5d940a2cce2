// Noting signals: see signals.h.
#include "lm/program/signals.h"

namespace rondo {
namespace {

volatile std::sig_atomic_t received_signal = 0;

void note(int number) {
  received_signal = number;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, SIG_IGN);   // a closed terminal sends it more than once
  std::signal(SIGPIPE, SIG_IGN);  // each further line sends it again
}

}  // namespace

StopSignals::StopSignals() {
  received_signal = 0;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;  // a system call in progress is continued
  for (std::size_t i = 0; i < watched.size(); ++i) {
    const bool may_be_ignored = watched[i] == SIGHUP || watched[i] == SIGPIPE;
    sigaction(watched[i], nullptr, &before_[i]);
    if (!may_be_ignored || before_[i].sa_handler != SIG_IGN) sigaction(watched[i], &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < watched.size(); ++i) sigaction(watched[i], &before_[i], nullptr);
}

int StopSignals::received() const { return received_signal; }

void StopSignals::throw_if_received() const {
  if (const int signal = received()) throw Stopped{128 + signal};
}

}  // namespace rondo
