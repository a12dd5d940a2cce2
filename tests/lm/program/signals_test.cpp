#include <gtest/gtest.h>
#include <unistd.h>

#include "lm/program/terminal.h"

namespace rondo {
namespace {

/// Raises signals one after the other; the exit status of the first, 0 if none was noted.
int exit_status_after(const std::vector<int>& raised) {
  const StopSignals signals;
  EXPECT_EQ(signals.received(), 0) << "what an earlier one noted is forgotten";
  for (const int signal : raised) std::raise(signal);
  try {
    signals.throw_if_received();
  } catch (const Stopped& stopped) {
    return stopped.exit_status;
  }
  return 0;
}

TEST(StopSignals, NoteTheFirst) {
  const auto hang_up = std::signal(SIGHUP, SIG_DFL), pipe = std::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(exit_status_after({}), 0);
  EXPECT_EQ(exit_status_after({SIGINT}), 130);
  EXPECT_EQ(exit_status_after({SIGTERM}), 143);
  EXPECT_EQ(exit_status_after({SIGHUP, SIGHUP}), 129) << "from the shell and from the terminal";
  EXPECT_EQ(exit_status_after({SIGPIPE, SIGPIPE}), 141) << "of the next line";
  EXPECT_EQ(exit_status_after({SIGINT, SIGPIPE}), 130) << "lm train | tee, where tee takes the Ctrl-C, too";
  for (const int signal : {SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);  // as nohup does
  for (const int signal : {SIGHUP, SIGPIPE}) EXPECT_EQ(exit_status_after({signal}), 0);
  std::signal(SIGHUP, hang_up), std::signal(SIGPIPE, pipe);
}

TEST(StopSignals, TheSecondStopsAtOnce) {
  const auto twice = [](int first, int second) {
    const StopSignals signals;
    std::raise(first);
    std::raise(second);
    _exit(0);
  };
  EXPECT_EXIT(twice(SIGINT, SIGINT), testing::KilledBySignal(SIGINT), "");
  EXPECT_EXIT(twice(SIGINT, SIGTERM), testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(twice(SIGHUP, SIGINT), testing::KilledBySignal(SIGINT), "");
}

TEST(StopSignals, AreGoneAfterwards) {
  EXPECT_EXIT(
      {
        { const StopSignals signals; }
        std::raise(SIGTERM);
        _exit(0);
      },
      testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace rondo
