#include <gtest/gtest.h>

#include "lm/program/log.h"
#include "lm/program/terminal.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

using namespace std::chrono_literals;

/// What `use` writes with such a Progress.
template <class Use>
std::string shown(bool terminal, int columns, std::chrono::milliseconds interval, Use&& use) {
  const TemporaryFolder folder;
  std::FILE* file = std::fopen((folder / "out").c_str(), "w");
  {
    Progress progress(file, terminal, columns, interval);
    use(progress);
  }
  std::fclose(file);
  return bytes_of_file(folder / "out");
}

TEST(Wrapped, BreaksLinesAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("one\n\ntwo", 80), "one\n\ntwo");
  EXPECT_EQ(wrapped("Example:\n  lm train --recipe demo", 10), "Example:\n  lm train --recipe demo");
  EXPECT_EQ(wrapped("a verylongword b", 6), "a\nverylongword\nb");
  EXPECT_EQ(wrapped("\xc3\xa4\xc3\xb6 \xc3\xbc", 4), "\xc3\xa4\xc3\xb6 \xc3\xbc") << "columns, not bytes";
  EXPECT_EQ(wrapped("", 9), "");
}

TEST(StepMetrics, TheirSpeedIsThatOfTheStepsAlone) {
  StepMetrics window;
  window.add({.loss = 6, .scored = 3, .seconds = 0.5});
  window.add({.loss = 1, .scored = 1, .seconds = 1.5});
  EXPECT_EQ(window.mean_loss(), 7. / 4);
  EXPECT_EQ(window.scored_per_second(), 2);
}

TEST(Progress, ATerminalLineIsWrittenOverAndRemoved) {
  EXPECT_EQ(shown(true, 80, 0ms,
                  [](Progress& progress) {
                    progress.status("one");
                    progress.status("two");
                    progress.line("stays");
                    progress.line("too");
                    progress.status("three");
                  }),
            "\rone\x1b[K\rtwo\x1b[K\r\x1b[Kstays\ntoo\n\rthree\x1b[K\r\x1b[K");
}

TEST(Progress, FitsTheTerminal) {
  EXPECT_EQ(shown(true, 5, 0ms, [](Progress& progress) { progress.status("1234567"); }),
            "\r1234\x1b[K\r\x1b[K");
  EXPECT_EQ(shown(true, 3, 0ms, [](Progress& progress) { progress.status("\xc3\xa9\xc3\xa8\xc3\xa0"); }),
            "\r\xc3\xa9\xc3\xa8\x1b[K\r\x1b[K");
  const auto show = [](Progress& progress) {
    progress.status(std::vector<std::string>{"epoch 1", "2m left", "3 nats"});
  };
  EXPECT_EQ(shown(true, 80, 0ms, show), "\repoch 1  2m left  3 nats\x1b[K\r\x1b[K");
  EXPECT_EQ(shown(true, 17, 0ms, show), "\repoch 1  2m left\x1b[K\r\x1b[K");
  EXPECT_EQ(shown(true, 16, 0ms, show), "\repoch 1\x1b[K\r\x1b[K");
  EXPECT_EQ(shown(false, 5, 0ms, show), "epoch 1  2m left  3 nats\n") << "no terminal, no width";
}

TEST(Progress, WhenPipedLinesThatStayAlone) {
  EXPECT_EQ(shown(false, 5, 0ms,
                  [](Progress& progress) {
                    progress.status("1234567");
                    progress_of(progress, "evaluating", 100)(5);
                    progress.line("stays");
                  }),
            "stays\n");
}

TEST(Progress, NotTooOften) {
  const auto two = [](Progress& progress) {
    for (const char* text : {"one", "two"}) progress.status(std::vector<std::string>{text});
    progress.line("stays");
  };
  EXPECT_EQ(shown(false, 80, 1h, two), "stays\n") << "the first after an hour";
  EXPECT_EQ(shown(false, 80, 0ms, two), "one\ntwo\nstays\n");
  EXPECT_EQ(shown(true, 80, 1h,
                  [](Progress& progress) {
                    EXPECT_TRUE(progress.due()) << "the first at once";
                    progress.status("one");
                    EXPECT_FALSE(progress.due());
                    progress.status("two");
                    progress.line("stays");
                  }),
            "\rone\x1b[K\r\x1b[Kstays\n");
}

TEST(Progress, DurationsAndNumbersAreShort) {
  EXPECT_EQ(duration_text(0.4), "0s");
  EXPECT_EQ(duration_text(59.6), "1m00s");
  EXPECT_EQ(duration_text(125), "2m05s");
  EXPECT_EQ(duration_text(12'000), "3h20m");
  EXPECT_EQ(duration_text(-1), "0s");
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(999.4), "999");
  EXPECT_EQ(short_number(999.6), "1.00k");
  EXPECT_EQ(short_number(12'345), "12.3k");
  EXPECT_EQ(short_number(99'960), "100k");
  EXPECT_EQ(short_number(4'560'000), "4.56M");
}

}  // namespace
}  // namespace rondo
