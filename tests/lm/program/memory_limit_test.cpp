// Under `ulimit -v` the program does its work or says in a line why it cannot; it never waits for memory.
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

constexpr rlim_t mebibyte = 1 << 20;

/// Of a program that is linked with CUDA's libraries: these alone exceed the limits below, before it can say
/// anything.
#define SKIP_IF_LIBRARIES_DO_NOT_FIT()                                                           \
  if (run_lm({"--version"}, {.max_addresses = 400 * mebibyte, .max_seconds = 60}).status == 127) \
  GTEST_SKIP() << "its libraries need more than 400 MiB"

TEST(MemoryLimit, TooLittleToBegin) {
  SKIP_IF_LIBRARIES_DO_NOT_FIT();
  expect_refused(run_lm({"--version"}, {.max_addresses = 120 * mebibyte, .max_seconds = 60}),
                 "the limit on memory (ulimit -v) leaves", 1);
}

TEST(MemoryLimit, ATrainingIsRefusedOrEnds) {
  SKIP_IF_LIBRARIES_DO_NOT_FIT();
  const SmallData data;
  bool refused = false, ended = false;
  for (rlim_t most = 180; !ended && most <= 2000; most += 20) {
    std::vector<std::string> words = data.train(fmt::format("run-{}", most));
    words.back() = "2";  // threads
    words.insert(words.end(), {"--epochs", "1"});
    const Result result = run_lm(words, {.max_addresses = most * mebibyte, .max_seconds = 60});
    ended = result.status == 0;
    if (ended) break;
    expect_refused(result, "", result.status == 2 ? 2 : 1);
    refused |= result.err.find("matrix products need") != std::string::npos;
    EXPECT_FALSE(std::filesystem::exists(data / fmt::format("run-{}", most))) << result.err;
  }
  EXPECT_TRUE(refused && ended);
}

TEST(MemoryLimit, AModelInUse) {
  SKIP_IF_LIBRARIES_DO_NOT_FIT();
  const SmallData data;
  data.trained("run", {"--epochs", "1"});
  expect_refused(run_lm({"eval", data.path("run"), "--threads", "4"},
                        {.max_addresses = 400 * mebibyte, .max_seconds = 60}),
                 "or use fewer threads", 1);
}

}  // namespace
}  // namespace rondo
