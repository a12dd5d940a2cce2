// The command line: what is refused and how, and what the options mean, as a user starts the program; nearest
// names, and commands as text.
#include "lm/program/cli.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>

#include "lm/program/recipe.h"
#include "lm/program/terminal.h"
#include "lm/settings/settings.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

/// EXPECT a refusal; what it says, without "lm: ".
std::string usage_error(const Words& words) {
  const Result result = run_lm(words);
  expect_refused(result, "lm: ");
  const std::size_t begin = std::string("lm: ").size();
  return result.err.substr(begin, result.err.size() - begin - 1);
}

TEST(CommandLine, Train) {
  const SmallData data;
  output_of_lm({"train", "--epochs", "1", "--recipe", data.path("small.toml"), "--set", "model.hidden=5",
                "--set", "train.epochs=9", "--seed=7", "--data", data.path("data"), "--out", data.path("a b"),
                "--threads", "1"});
  const std::string config = bytes_of_file(data / "a b/config.toml");
  expect_contains(config, "hidden = [5]");
  expect_contains(config, "epochs = 1  #");  // a named flag wins over --set wherever it stands
  expect_contains(config, "seed = 7");
  expect_contains(config, "--seed=7 --data ");
  expect_contains(config, "'" + data.path("a b") + "' --threads 1");
}

TEST(CommandLine, Resume) {
  EXPECT_EQ(usage_error({"train", "--resume"}), "train: --resume requires --out");
  EXPECT_EQ(usage_error({"train", "--out", "a", "--resume", "--recipe", "demo"}),
            "train: --recipe excludes --resume");
  expect_contains(usage_error({"train", "--out", "a", "--resume", "--seed", "2"}), "--seed 2: cannot change");
  expect_contains(usage_error({"train", "--out", "a", "--resume", "--set", "train.batch=2"}),
                  "cannot change");
  EXPECT_EQ(usage_error({"train", "--init-from", "a", "--recipe", "demo"}),
            "train: --recipe excludes --init-from");
  EXPECT_EQ(usage_error({"train", "--init-from", "a", "--resume", "--out", "b"}),
            "train: --init-from excludes --resume");
}

TEST(CommandLine, UnknownNamesSayWhatIsMeant) {
  const std::pair<Words, std::string> rows[] = {
      {{"train", "--lr", "1"}, "train: unknown option --lr; here it is 'train.learning_rate' (with --set)"},
      {{"train", "--gpu", "5"}, "train: unknown option --gpu; here it is '--device cuda'"},
      {{"sweep", "--recipe", "demo", "--hidden", "5"},
       "sweep: unknown option --hidden; did you mean 'model.hidden'? (with --set)"},
      {{"eval", "r", "--batch-size", "10"}, "eval: unknown option --batch-size; here it is '--streams'"},
      {{"evaluate", "r"}, "unknown command 'evaluate'; here it is 'eval'"},
      {{"resume"}, "unknown command 'resume'; here it is 'train --out RUN --resume'"},
      {{"trian"}, "unknown command 'trian'; did you mean 'train'?"},
      {{"help", "trian"}, "unknown command 'trian'; did you mean 'train'?"},
      {{"--versoin"}, "unknown command '--versoin'; did you mean '--version'?"},
      {{"info", "--vocab-siz", "5", "--recipe", "demo"},
       "info: unknown option --vocab-siz; did you mean '--vocab-size'?"},
      {{"train", "--epoch=3"}, "train: unknown option --epoch; did you mean '--epochs'?"}};
  for (const auto& [words, text] : rows) EXPECT_EQ(usage_error(words), text);
  expect_contains(usage_error({"translate", "r", "--quantize", "5"}),
                  "translate: unknown option --quantize; see ");  // no name is near
  expect_contains(usage_error({"train", "demo", "text"}), "train: unexpected argument 'demo'; see ");
  expect_contains(error_of([] { resolve_recipe("demo", {parse_setting("model.hidden_size=8")}); }),
                  "; here it is 'model.hidden'");
}

TEST(CommandLine, UsageErrors) {
  const Result nothing = run_lm({});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_EQ(nothing.err, output_of_lm({"--help"}));
  EXPECT_EQ(usage_error({"finetune", "runs/a", "--recipe", "demo"}).find("finetune: unknown option --recipe"),
            0u);
  expect_contains(usage_error({"train"}), "no recipe given");
  expect_contains(usage_error({"train", "--recipe", "demo", "--data", "x", "--set", "layers"}), "key=value");
  EXPECT_EQ(usage_error({"eval"}), "eval: run is required");
  expect_contains(usage_error({"eval", "a", "--split", "tset"}), "tset");
  expect_contains(usage_error({"eval", "a", "--split", "test", "b"}), "--split excludes --text");
  expect_contains(usage_error({"eval", "a", "--threads", "2x"}), "'2x': expected an integer");
  expect_contains(usage_error({"generate", "a", "-n", "5.5"}), "'5.5': expected an integer, at least 0");
  expect_contains(usage_error({"generate", "a", "--temperature", "nan"}), "expected a number, 0 or above");
  expect_contains(usage_error({"generate", "a", "--top-p", "0"}), "expected a number above 0, up to 1");
  for (const char* flag : {"--data", "--epochs"})
    expect_contains(usage_error({"train", flag, ""}), fmt::format("{}: '': expected a value", flag));
  expect_contains(usage_error({"table", "a", "--json", "--markdown"}), "excludes");
  expect_contains(usage_error({"info"}), "give one of");
  expect_contains(usage_error({"info", "--keys", "--cells"}), "--keys excludes --cells");
  expect_contains(usage_error({"info", "run", "--vocab-size", "5"}), "--vocab-size requires --recipe");
  expect_contains(usage_error({"import", "none.pt"}), "none.pt: no such file");
}

/// The exit status and the text.
template <class Exception>
std::string failure_of(const Exception& exception) try {
  throw exception;
} catch (...) {
  const auto [text, exit_status] = current_failure();
  return fmt::format("{} {}", exit_status, text);
}

TEST(CommandLine, FailuresAreOneLineAndAStatus) {
  EXPECT_EQ(failure_of(InputError("bad")), "2 bad");
  EXPECT_EQ(failure_of(Error("a\nb\x1b[2J\x7f")), "1 a b\\x1b[2J\\x7f");
  EXPECT_EQ(failure_of(std::bad_alloc()), "1 not enough memory") << "nobody knows here for what";
  const std::filesystem::filesystem_error closed("f", "runs/a",
                                                 std::make_error_code(std::errc::permission_denied));
  EXPECT_EQ(failure_of(closed), "2 runs/a: Permission denied");
  EXPECT_EQ(failure_of(5), "1 an unknown failure");
}

TEST(CommandLine, HelpOfEachCommandFitsAndEndsWithAnExample) {
  const std::string all = output_of_lm({"--help"});
  EXPECT_EQ(output_of_lm({"help"}), all);
  expect_contains(output_of_lm({"--version"}), RONDO_VERSION);
  for (const std::string command :
       {"train",    "sweep",  "finetune", "eval",       "score",  "generate", "translate",
        "classify", "answer", "embed",    "transcribe", "import", "export",   "quantize",
        "ngram",    "bleu",   "info",     "recipes",    "probe",  "table",    "plot"}) {
    expect_contains(all, "\n  " + command);
    const std::string help = output_of_lm({command, "--help"});
    EXPECT_EQ(output_of_lm({"help", command}), help);
    const std::size_t example = help.find("\nExample:\n  lm " + command + " ");
    ASSERT_NE(example, std::string::npos) << help;
    for (const std::string& line : lines_in(help.substr(0, example)))
      EXPECT_LE(line.find("Excludes: ") == line.npos ? columns_of(line) : 0, 80) << command << ": " << line;
  }
  const std::string help = output_of_lm({"eval", "--help"});
  for (const char* part : {"Usage: lm eval [OPTIONS] run [text]\n",
                           "--split NAME:{train,valid,test,speakers}=valid", "--device NAME:{cpu,cuda}"})
    expect_contains(help, part);
}

TEST(Nearest, EditDistance) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("trian", "train"), 1u);  // neighbours swapped
  EXPECT_EQ(edit_distance("train", "train"), 0u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);  // restricted form: no edit inside a swap
}

TEST(Nearest, NamesTheNearestAndNothingThatIsFar) {
  const Words known = {"model.hidden", "model.dropout", "train.batch"};
  EXPECT_EQ(nearest("model.hiden", known), "model.hidden");
  EXPECT_EQ(nearest("dropout", known), "model.dropout");
  EXPECT_EQ(nearest("model.batch", known), "train.batch");
  EXPECT_EQ(nearest("zzzzzz", known), "");
  EXPECT_EQ(nearest("--lr", {"--help", "--recipe"}), "");
  EXPECT_EQ(nearest("sample", {"table", "train"}), "");
  EXPECT_EQ(nearest("train.lr", {"train.loss", "train.clip"}), "");
  EXPECT_EQ(nearest("train.learnin_rate", {"train.learning_rate"}), "train.learning_rate");
  EXPECT_EQ(nearest("--temp", {"--help", "--temperature"}), "--temperature") << "it begins so";
}

TEST(Nearest, WhatIsVeryLongIsNotCompared) {
  const Words known(100, "train.learning_rate");
  const std::clock_t start = std::clock();
  EXPECT_EQ(nearest(std::string(8 << 20, 'x'), known), "");
  EXPECT_EQ(nearest(std::string(8 << 20, '.') + "learning_rat", known), "train.learning_rate");
  EXPECT_EQ(nearest("train." + std::string(8 << 20, 'x'), known), "");
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC) << "minutes if they were compared";
}

TEST(Nearest, EndOfAnErrorText) {
  EXPECT_EQ(did_you_mean("lstn", {"lstm", "gru"}), "; did you mean 'lstm'?");
  EXPECT_EQ(did_you_mean("convolution", {"lstm", "gru"}), "; known: lstm, gru");
  EXPECT_EQ(did_you_mean("--batch-size", {"--streams", "train.batch"}), "; here it is 'train.batch'");
  EXPECT_EQ(did_you_mean("--batch-size", {"--streams"}), "; here it is '--streams'");
  EXPECT_EQ(did_you_mean("--gpu", {"--device"}), "; here it is '--device cuda'");
  EXPECT_EQ(did_you_mean("dynamic.lr", {"train.learning_rate", "dynamic.learning_rate"}),
            "; here it is 'dynamic.learning_rate'");
}

TEST(ShellCommand, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(shell_command({"lm", "train", "--data", "my text", "it's", ""}),
            "lm train --data 'my text' 'it'\\''s' ''");
  const TemporaryFolder folder;  // and bash takes a name that is not UTF-8 as it is
  const std::string name = "it's \xff\x1b[2J\u202e\n\\$HOME 7",
                    command = shell_command({"printf", "%s", name});
  EXPECT_EQ(printable(command), command);
  write_bytes(folder / "command", command);
  const std::string out = folder / "out", bash = shell_command({"bash", folder / "command"});
  ASSERT_EQ(std::system((bash + " > " + out).c_str()), 0);
  EXPECT_EQ(bytes_of_file(out), name);
}

TEST(ShellCommand, HintsBeginWithTheProgramAsItWasStarted) {
  const SmallData data;
  const std::string out = data.trained("run", {"--epochs", "1"});
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
