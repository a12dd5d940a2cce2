// The help, the manual page and the completion of shells, which all come from the parser.
#include "lm/program/help.h"

#include <sys/wait.h>

#include <cstdlib>

#include "lm/program/option_list.h"
#include "lm/program/options.h"
#include "lm/program/progress.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

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
    EXPECT_TRUE(last.starts_with("  lm ") || name == "completion") << name << ": " << last;
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

TEST(Help, TheManualPageHasEveryOption) {
  const std::string page = output_of_lm({"man"});
  EXPECT_TRUE(page.starts_with(".TH LM 1 "));
  const Options parser;
  for (const CLI::App* command : commands_of(parser.app)) {
    expect_contains(page, ".SS lm " + command->get_name() + "\n");
    for (const ListedOption& option : options_of(*command))
      for (const std::string& name : option.names) {
        std::string escaped;
        for (const char letter : name) escaped += letter == '-' ? std::string("\\-") : std::string(1, letter);
        expect_contains(page, "\\fB" + escaped + "\\fR");
      }
  }
  if (!has_program("groff")) GTEST_SKIP() << "there is no groff";
  const TemporaryFolder folder;
  write_bytes(folder / "lm.1", page);
  const std::string command = "groff -man -Tascii -ww " + (folder / "lm.1").string() + " > " +
                              (folder / "shown").string() + " 2> " + (folder / "warnings").string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(bytes_of_file(folder / "warnings"), "");
  expect_contains(bytes_of_file(folder / "shown"), "lm train --recipe char-lstm");
}

/// What bash offers for the last of these words.
std::string offered(const TemporaryFolder& folder, const std::vector<std::string>& words) {
  std::string script = "source '" + (folder / "lm.bash").string() + "'; COMP_WORDS=(";
  for (const std::string& word : words) script += " '" + word + "'";
  script += fmt::format("); COMP_CWORD={}; _lm; printf '%s ' \"${{COMPREPLY[@]}}\"", words.size() - 1);
  write_bytes(folder / "ask.bash", script);
  const std::string out = (folder / "out").string();
  EXPECT_EQ(std::system(("cd '" + (folder / "").string() + "' && bash ask.bash > '" + out + "'").c_str()), 0);
  return bytes_of_file(out);
}

TEST(Help, BashCompletes) {
  if (!has_program("bash")) GTEST_SKIP() << "there is no bash";
  const TemporaryFolder folder;
  write_bytes(folder / "lm.bash", output_of_lm({"completion", "bash"}));
  EXPECT_EQ(offered(folder, {"lm", "gen"}), "generate ");
  EXPECT_EQ(offered(folder, {"lm", "train", "--rec"}), "--recipe ");
  EXPECT_EQ(offered(folder, {"lm", "train", "--recipe", "zaremba-s"}), "zaremba-small ");
  EXPECT_EQ(offered(folder, {"lm", "generate", "runs/a", "--device", ""}), "cpu cuda ");
  EXPECT_EQ(offered(folder, {"lm", "train", "--set", "train.learning_r"}), "train.learning_rate= ");
  EXPECT_EQ(offered(folder, {"lm", "help", "boo"}), " ");
  EXPECT_EQ(offered(folder, {"lm", "help", "swe"}), "sweep ");
  std::filesystem::create_directory(folder / "runs");
  EXPECT_EQ(offered(folder, {"lm", "score", "ru"}), "runs ");
}

TEST(Help, ZshHasEveryOption) {
  const std::string script = output_of_lm({"completion", "zsh"});
  EXPECT_TRUE(script.starts_with("#compdef lm\n"));
  const Options parser;
  for (const CLI::App* command : commands_of(parser.app))
    for (const ListedOption& option : options_of(*command))
      for (const std::string& name : option.names) expect_contains(script, name + "[");
  expect_contains(script, ":NAME:(fp32 tf32 bf16)");
  if (!has_program("zsh")) GTEST_SKIP() << "there is no zsh";
  const TemporaryFolder folder;
  write_bytes(folder / "_lm", script);
  EXPECT_EQ(std::system(("zsh -n '" + (folder / "_lm").string() + "'").c_str()), 0);
}

}  // namespace
}  // namespace rondo
