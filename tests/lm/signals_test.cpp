#include "lm/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace rondo {
namespace {

TEST(StopSignals, NotesTheFirst) {
  const StopSignals signals;
  EXPECT_EQ(signals.received(), 0);
  std::raise(SIGINT);
  EXPECT_EQ(signals.received(), SIGINT);
  EXPECT_EQ(signals.exit_status(), 130);
}

TEST(StopSignals, NotesTermination) {
  const StopSignals signals;
  EXPECT_EQ(signals.received(), 0) << "what an earlier one noted is forgotten";
  std::raise(SIGTERM);
  EXPECT_EQ(signals.exit_status(), 143);
}

TEST(StopSignals, NotesHangUps) {
  const auto before = std::signal(SIGHUP, SIG_DFL);
  {
    const StopSignals signals;
    std::raise(SIGHUP);
    std::raise(SIGHUP);  // from the shell and from the terminal
    EXPECT_EQ(signals.exit_status(), 129);
  }
  std::signal(SIGHUP, SIG_IGN);  // as nohup does
  {
    const StopSignals signals;
    std::raise(SIGHUP);
    EXPECT_EQ(signals.received(), 0);
  }
  std::signal(SIGHUP, before);
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
