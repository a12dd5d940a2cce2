// Commands as text: lm/program/cli.h.
#include "lm/program/cli.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

TEST(ShellCommand, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(shell_command({"lm", "train", "--data", "my text", "it's", ""}),
            "lm train --data 'my text' 'it'\\''s' ''");
}

TEST(ShellCommand, HintsBeginWithTheProgramAsItWasStarted) {
  const SmallData data;
  const std::string out = output_of_lm(data.train("run", {"--epochs", "1"}));
  const std::string before = "to sample from it: ";
  const std::size_t begin = out.find(before) + before.size();
  const std::string command = out.substr(begin, out.find('\n', begin) - begin);
  EXPECT_TRUE(command.ends_with("/lm generate " + data.path("run"))) << command;
  EXPECT_EQ(std::system((command + " -n 1 > /dev/null 2>&1").c_str()), 0) << command;
  expect_contains(run_lm({"eval", "run", "--none"}).err, "/lm eval --help");
  expect_contains(run_lm({"train"}).err, "/lm recipes`");
}

}  // namespace
}  // namespace rondo
