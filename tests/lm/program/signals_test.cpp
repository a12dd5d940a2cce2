#include <gtest/gtest.h>
#include <unistd.h>

#include "lm/program/terminal.h"

namespace rondo {
namespace {

int exit_status_of(const StopSignals& signals) {
  try {
    signals.throw_if_received();
  } catch (const Stopped& stopped) {
    return stopped.exit_status;
  }
  return 0;
}

TEST(StopSignals, NotesTheFirst) {
  const StopSignals signals;
  EXPECT_EQ(signals.received(), 0);
  EXPECT_NO_THROW(signals.throw_if_received());
  std::raise(SIGINT);
  EXPECT_EQ(signals.received(), SIGINT);
  EXPECT_EQ(exit_status_of(signals), 130);
}

TEST(StopSignals, NotesTermination) {
  const StopSignals signals;
  EXPECT_EQ(signals.received(), 0) << "what an earlier one noted is forgotten";
  std::raise(SIGTERM);
  EXPECT_EQ(exit_status_of(signals), 143);
}

TEST(StopSignals, NotesHangUps) {
  const auto before = std::signal(SIGHUP, SIG_DFL);
  {
    const StopSignals signals;
    std::raise(SIGHUP);
    std::raise(SIGHUP);  // from the shell and from the terminal
    EXPECT_EQ(exit_status_of(signals), 129);
  }
  std::signal(SIGHUP, SIG_IGN);  // as nohup does
  {
    const StopSignals signals;
    std::raise(SIGHUP);
    EXPECT_EQ(signals.received(), 0);
  }
  std::signal(SIGHUP, before);
}

TEST(StopSignals, NotesThatNobodyReads) {
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  {
    const StopSignals signals;
    std::raise(SIGPIPE);
    std::raise(SIGPIPE);  // of the next line
    EXPECT_EQ(exit_status_of(signals), 141);
  }
  {
    const StopSignals signals;
    std::raise(SIGINT);
    std::raise(SIGPIPE);  // of `lm train | tee`, where tee takes the Ctrl-C, too
    EXPECT_EQ(exit_status_of(signals), 130);
  }
  std::signal(SIGPIPE, SIG_IGN);
  {
    const StopSignals signals;
    std::raise(SIGPIPE);
    EXPECT_EQ(signals.received(), 0);
  }
  std::signal(SIGPIPE, before);
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
