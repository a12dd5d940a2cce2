// Lines of standard input that comes in parts: lm/program/files.h.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "lm/program/files.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

/// A pipe as standard input, while it exists.
class PipedInput {
 public:
  PipedInput() : before_(dup(STDIN_FILENO)) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw Error("no pipe");
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    end_ = ends[1];
  }
  ~PipedInput() {
    if (end_ >= 0) end();
    dup2(before_, STDIN_FILENO);
    close(before_);
  }
  void write(const std::string& text) {
    ASSERT_EQ(::write(end_, text.data(), text.size()), std::ssize(text));
  }
  void end() { close(std::exchange(end_, -1)); }

 private:
  int before_, end_;
};

TEST(InputLines, KnowsWhetherALineIsThere) {
  PipedInput input;
  InputLines lines;
  EXPECT_FALSE(lines.is_there());
  input.write("one\n\nthr");
  std::string line;
  EXPECT_TRUE(lines.is_there());
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "one");
  EXPECT_EQ(lines.name(), "standard input, line 1");
  EXPECT_TRUE(lines.is_there()) << "it has come together with the first";
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "");
  EXPECT_FALSE(lines.is_there()) << "a part of a line";
  input.write("ee\nfour");
  EXPECT_TRUE(lines.is_there());
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "three");
  EXPECT_FALSE(lines.is_there());
  input.end();
  EXPECT_TRUE(lines.is_there()) << "the end is not waited for";
  ASSERT_TRUE(lines.next(line));
  EXPECT_EQ(line, "four");
  EXPECT_EQ(lines.name(), "standard input, line 4");
  EXPECT_TRUE(lines.is_there());
  EXPECT_FALSE(lines.next(line));
  EXPECT_FALSE(lines.next(line));
}

TEST(InputLines, CanBeLeftWhileWaiting) {
  PipedInput input;
  int calls = 0;
  InputLines lines([&] {
    if (++calls == 3) throw Error("enough");
  });
  input.write("a");
  std::string line;
  EXPECT_EQ(error_of<Error>([&] { lines.next(line); }), "enough");
}

// What comes before a line that is refused is answered; what has come is answered together.
TEST(AnswerLines, InBatches) {
  PipedInput input;
  std::string text;
  for (int i = 0; i < 1500; ++i) text += fmt::format("{}\n", i);
  input.write(text + "no\n7\n");
  std::vector<std::vector<int>> answered;
  InputLines lines;
  const auto answer = [&] {
    answer_lines(
        lines,
        [](const std::string& line, const std::string& name) {
          check_input(line != "no", "{}: no", name);
          return std::stoi(line);
        },
        [&](const std::vector<int>& items) { answered.push_back(items); });
  };
  EXPECT_EQ(error_of(answer), "standard input, line 1501: no");
  ASSERT_EQ(answered.size(), 2u);
  EXPECT_EQ(answered[0].size(), 1024u);
  EXPECT_EQ(answered[1].size(), 476u);
  EXPECT_EQ(answered[1].back(), 1499);
}

TEST(InputLines, RefusesWhatIsTooLong) {
  const TemporaryFolder folder;
  write_bytes(folder / "long", "short\n" + std::string(longest_input_line, 'a') + "\n" +
                                   std::string(longest_input_line + 1, 'a') + "\n");
  const int before = dup(STDIN_FILENO), file = open((folder / "long").c_str(), O_RDONLY);
  dup2(file, STDIN_FILENO);
  InputLines lines;
  std::string line;
  EXPECT_TRUE(lines.next(line));
  EXPECT_TRUE(lines.next(line));
  EXPECT_EQ(line.size(), longest_input_line);
  EXPECT_EQ(error_of([&] { lines.next(line); }),
            fmt::format("standard input, line 3: longer than {} bytes; split it", longest_input_line));
  dup2(before, STDIN_FILENO);
  close(before), close(file);
}

}  // namespace
}  // namespace rondo
