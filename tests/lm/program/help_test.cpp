// The help, which comes from the parser.
#include "lm/program/help.h"

#include "lm/program/options.h"
#include "lm/program/progress.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

std::vector<std::string> commands() {
  const Options parser;
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(parser.app)) names.push_back(command->get_name());
  return names;
}

TEST(Help, Wraps) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("one\ntwo", 80), "one two") << "lines of a paragraph";
  EXPECT_EQ(wrapped("one\n\ntwo", 80), "one\n\ntwo");
  EXPECT_EQ(wrapped("Example:\n  lm train --recipe demo", 10), "Example:\n  lm train --recipe demo");
  EXPECT_EQ(wrapped("a verylongword b", 6), "a\nverylongword\nb");
  EXPECT_EQ(wrapped("\xc3\xa4\xc3\xb6 \xc3\xbc", 4), "\xc3\xa4\xc3\xb6 \xc3\xbc") << "columns, not bytes";
  EXPECT_EQ(wrapped("", 9), "");
}

TEST(Help, OfEachCommandFitsAndEndsWithAnExample) {
  for (const std::string& name : commands()) {
    const std::string help = output_of_lm({name, "--help"});
    std::istringstream lines(help);
    std::string last;
    for (std::string line; std::getline(lines, line); last = line.empty() ? last : line)
      if (!line.starts_with("  lm ")) {
        EXPECT_LE(columns_of(line), 80) << name << ": " << line;
      }
    EXPECT_TRUE(last.starts_with("  lm ")) << name << ": " << last;
    expect_contains(help, "Example:\n");
    EXPECT_EQ(output_of_lm({"help", name}), help);
  }
  const std::string help = output_of_lm({"eval", "--help"});
  for (const char* part :
       {"Usage: lm eval RUN [FILE] [OPTIONS]\n\nArguments:\n  RUN                       the run folder\n",
        "  --device cpu|cuda ", "(default: valid; not with"})
    expect_contains(help, part);
  for (const char* word : {"Positionals", "Excludes", "Needs"})
    for (const std::string& name : commands())
      EXPECT_EQ(output_of_lm({name, "--help"}).find(word), std::string::npos) << name;
  EXPECT_EQ(output_of_lm({"help"}), output_of_lm({"--help"}));
  expect_refused(run_lm({"help", "trian"}), "did you mean 'train'?");
}

}  // namespace
}  // namespace rondo
