// Commands with nothing to save, stopped by a signal. Trainings: resume_test.cpp.
#include <sys/stat.h>

#include <fstream>

#include "tests/lm/program/program.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

// `lm generate | head -1`. Where SIGPIPE is ignored, the program sees what it would have said, and no full
// disk.
TEST(Stopped, ByAReaderThatGoes) {
  const SmallData data;
  data.trained("run", {"--epochs", "1"});
  const std::string pipe = data.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  using Words = std::vector<std::string>;
  for (const bool ignored : {false, true})
    for (const Words& words : {Words{"generate", data.path("run"), "--seed", "1", "-n", "1000000000"},
                               Words{"score", data.path("run")}, data.train("ignored", {"--epochs", "1"})}) {
      if (words[0] == "train" && !ignored) continue;  // resume_test.cpp
      Program program(
          words, {.input = std::string(100'000, '\n'), .stdout_file = pipe, .ignores_broken_pipes = ignored});
      std::ifstream(pipe).get();
      const Result result = program.end();
      EXPECT_EQ(result.status, 128 + SIGPIPE) << words.front();
      EXPECT_EQ(result.err, "");
    }
  output_of_lm(data.resume("ignored"));
}

TEST(Stopped, AFileThatIsHalfWritten) {
  const TemporaryFolder folder;
  std::string text;
  for (std::uint32_t i = 0; i < 150'000; ++i)
    text += fmt::format("{}{}", (i * 2654435761u) >> 20, i % 10 == 9 ? '\n' : ' ');
  write_bytes(folder / "text.txt", text);
  write_bytes(folder / "model.arpa", "old");
  const fs::path partial = folder / "model.arpa.partial";
  bool was_stopped = false;
  for (int tries = 0; tries < 10 && !was_stopped; ++tries) {  // on a busy machine it may have been too late
    Program program({"ngram", "--data", folder / "text.txt", "--order", "5", "--out", folder / "model.arpa"});
    program.wait_until([&] { return fs::exists(partial); });
    was_stopped = program.end(SIGINT).status == 128 + SIGINT;
    if (was_stopped) {
      EXPECT_EQ(bytes_of_file(folder / "model.arpa"), "old");
    }
  }
  EXPECT_TRUE(was_stopped);
}

}  // namespace
}  // namespace rondo
