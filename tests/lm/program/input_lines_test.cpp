// Lines of standard input that comes in parts: lm/program/files.h.
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

// What comes before a line that is refused is answered; what has come is answered together.
TEST(AnswerLines, InBatches) {
  std::string text;
  for (int i = 0; i < 1500; ++i) text += fmt::format("{}\n", i);
  const auto answered = [&](std::int64_t batch) {
    PipedInput input;
    input.write(text + "no\n7\n");
    input.end();
    std::vector<std::size_t> sizes;
    InputLines lines;
    EXPECT_EQ(error_of([&] {
                answer_lines(lines, batch, [&](const std::vector<InputLine>& some) {
                  for (const InputLine& it : some) check_input(it.text != "no", "{}: no", it.name);
                  sizes.push_back(some.size());
                });
              }),
              "standard input, line 1501: no");
    return sizes;
  };
  std::vector<std::size_t> expected{1024};
  expected.resize(1 + 476, 1);  // with the refused line, each alone
  EXPECT_EQ(answered(as_many_as_have_come), expected);
  EXPECT_EQ(answered(500), (std::vector<std::size_t>{500, 500, 500}));
}

}  // namespace
}  // namespace rondo
