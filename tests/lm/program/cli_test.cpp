// The command line: what is refused and how, and what the options mean, as a user starts the program.
#include "lm/program/cli.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>

#include "lm/program/recipe.h"
#include "lm/program/settings.h"
#include "lm/program/terminal.h"
#include "tests/lm/program/program.h"

namespace rondo {
namespace {

using Words = std::vector<std::string>;

/// EXPECT a refusal; what it says, without "lm: ".
std::string usage_error(const Words& words) {
  const Result result = run_lm(words);
  expect_refused(result, "lm: ");
  const std::size_t begin = std::string("lm: ").size();
  return result.err.substr(begin, result.err.size() - begin - 1);
}

TEST(CommandLine, Train) {
  const SmallData data;
  const Words words{"train",  "--epochs",        "1",     "--recipe",       data.path("small.toml"),
                    "--set",  "model.hidden=5",  "--set", "train.epochs=9", "--seed=7",
                    "--data", data.path("data"), "--out", data.path("a b"), "--threads",
                    "1"};
  output_of_lm(words);
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

TEST(CommandLine, NamesOfOtherPrograms) {
  using Pair = std::pair<std::string, std::string>;
  for (const auto& [option, key] : {Pair("--lr", "train.learning_rate"), Pair("--batch-size", "train.batch")})
    EXPECT_EQ(usage_error({"train", option, "1"}),
              fmt::format("train: unknown option {}; here it is '{}' (with --set)", option, key));
  for (const auto& [option, key] :
       {Pair("--hidden", "model.hidden"), Pair("--weight-decay", "train.weight_decay")})
    EXPECT_EQ(usage_error({"sweep", "--recipe", "demo", option, "5"}),
              fmt::format("sweep: unknown option {}; did you mean '{}'? (with --set)", option, key));
  EXPECT_EQ(usage_error({"evaluate", "r"}), "unknown command 'evaluate'; here it is 'eval'");
  EXPECT_EQ(usage_error({"sample", "r"}), "unknown command 'sample'; here it is 'generate'");
  EXPECT_EQ(usage_error({"resume"}), "unknown command 'resume'; here it is 'train --out RUN --resume'");
  for (const auto& [option, here] : {Pair("--gpu", "--device cuda"), Pair("--fp16", "--precision bf16"),
                                     Pair("--output", "--out"), Pair("--model", "--recipe")})
    EXPECT_EQ(usage_error({"train", option, "5"}),
              fmt::format("train: unknown option {}; here it is '{}'", option, here));
  EXPECT_EQ(usage_error({"eval", "r", "--batch-size", "10"}),
            "eval: unknown option --batch-size; here it is '--streams'");
  EXPECT_EQ(usage_error({"generate", "r", "--max-tokens", "5"}),
            "generate: unknown option --max-tokens; here it is '-n'");
  expect_contains(usage_error({"translate", "r", "--output", "5"}),
                  "translate: unknown option --output; see ");  // it has none
  for (const auto& [text, key] :
       {Pair("lr=1", "train.learning_rate"), Pair("dynamic.lr=1", "dynamic.learning_rate"),
        Pair("model.hidden_size=8", "model.hidden")})
    expect_contains(error_of([&, setting = text] { resolve_recipe("demo", {parse_setting(setting)}); }),
                    fmt::format("; here it is '{}'", key));
  expect_contains(usage_error({"train", "demo", "text"}), "train: unexpected argument 'demo'; see ");
}

TEST(CommandLine, NamesAreIndependentOfCase) {
  expect_refused(run_lm({"generate", "no run", "--device", "CPU"}), "no run at no run");
  const Recipe recipe =
      resolve_recipe("demo", {parse_setting("model.cell=LSTM"), parse_setting("train.optimizer=AdamW")});
  EXPECT_EQ(recipe.language_model().model.cell, "lstm");
  EXPECT_EQ(recipe.trainer.optimizer.kind, OptimizerKind::adamw);
}

TEST(CommandLine, UsageErrors) {
  const Result nothing = run_lm({});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_EQ(nothing.err, output_of_lm({"--help"}));
  EXPECT_EQ(usage_error({"trian"}), "unknown command 'trian'; did you mean 'train'?");
  EXPECT_EQ(usage_error({"--versoin"}), "unknown command '--versoin'; did you mean '--version'?");
  EXPECT_EQ(usage_error({"train", "--recpie", "demo"}),
            "train: unknown option --recpie; did you mean '--recipe'?");
  EXPECT_EQ(usage_error({"train", "--epoch=3"}), "train: unknown option --epoch; did you mean '--epochs'?");
  EXPECT_EQ(usage_error({"finetune", "runs/a", "--recipe", "demo"}).find("finetune: unknown option --recipe"),
            0u);
  expect_contains(usage_error({"train"}), "no recipe given");
  expect_contains(usage_error({"train", "--recipe", "demo", "--data", "x", "--set", "layers"}), "key=value");
  for (const char* command : {"finetune", "eval", "score", "generate", "translate", "classify", "answer",
                              "embed", "transcribe", "export"})
    EXPECT_EQ(usage_error({command}), fmt::format("{}: run is required", command));
  expect_contains(usage_error({"eval", "a", "--split", "tset"}), "tset");
  expect_contains(usage_error({"eval", "a", "--split", "test", "b"}), "--split excludes --text");
  expect_contains(usage_error({"eval", "a", "--streams", "0"}), "'0': expected an integer, 1 to 1000000");
  expect_contains(usage_error({"eval", "a", "--threads", "2x"}), "'2x': expected an integer");
  expect_contains(usage_error({"generate", "a", "-n", "5.5"}), "'5.5': expected an integer, at least 0");
  expect_contains(usage_error({"generate", "a", "-n", "-1"}), "'-1': expected an integer, at least 0");
  expect_contains(usage_error({"generate", "a", "--temperature", "nan"}), "expected a number, 0 or above");
  expect_contains(usage_error({"generate", "a", "--top-p", "0"}), "expected a number above 0, up to 1");
  for (const char* flag : {"--recipe", "--data", "--out", "--epochs", "--seed"})
    expect_contains(usage_error({"train", flag, ""}), fmt::format("{}: '': expected a value", flag));
  expect_contains(usage_error({"eval", "a", "--text", ""}), "--text: '': expected a value");
  expect_contains(usage_error({"table", "a", "--json", "--markdown"}), "excludes");
  expect_contains(usage_error({"info"}), "give one of");
  expect_contains(usage_error({"info", "run", "--operators"}), "run excludes --operators");
  expect_contains(usage_error({"info", "--keys", "--cells"}), "--keys excludes --cells");
  expect_contains(usage_error({"info", "run", "--vocab-size", "5"}), "--vocab-size requires --recipe");
  expect_contains(usage_error({"import", "none.pt"}), "none.pt: no such file");
}

template <class Exception>
Failure failure_of(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return current_failure();
  }
}

TEST(CommandLine, FailuresAreOneLineAndAStatus) {
  EXPECT_EQ(failure_of(InputError("bad")).exit_status, 2);
  EXPECT_EQ(failure_of(InputError("bad")).line, "lm: bad");
  EXPECT_EQ(failure_of(Error("bad")).exit_status, 1);
  EXPECT_EQ(failure_of(std::bad_alloc()).exit_status, 1);
  expect_contains(failure_of(std::bad_alloc()).line, "not enough memory");
  const std::filesystem::filesystem_error closed("f", "runs/a",
                                                 std::make_error_code(std::errc::permission_denied));
  EXPECT_EQ(failure_of(closed).exit_status, 2);
  EXPECT_EQ(failure_of(closed).line, "lm: runs/a: Permission denied");
  EXPECT_EQ(failure_of(5).exit_status, 1);
  EXPECT_EQ(failure_of(Error("a\nb\x1b[2J\x7f")).line, "lm: a b\\x1b[2J\\x7f");
}

TEST(CommandLine, HelpOfEachCommandFitsAndEndsWithAnExample) {
  const std::string all = output_of_lm({"--help"});
  EXPECT_EQ(output_of_lm({"help"}), all);
  expect_contains(output_of_lm({"--version"}), RONDO_VERSION);
  for (const std::string command :
       {"train",    "sweep",  "finetune", "eval",       "score",  "generate", "translate",
        "classify", "answer", "embed",    "transcribe", "import", "export",   "ngram",
        "bleu",     "info",   "recipes",  "probe",      "table",  "plot"}) {
    expect_contains(all, "\n  " + command);
    const std::string help = output_of_lm({command, "--help"});
    EXPECT_EQ(output_of_lm({"help", command}), help);
    const std::size_t example = help.find("\nExample:\n  lm " + command + " ");
    ASSERT_NE(example, std::string::npos) << help;
    std::istringstream lines(help.substr(0, example));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.find("Excludes: ") == line.npos ? columns_of(line) : 0, 80) << command << ": " << line;
  }
  const std::string help = output_of_lm({"eval", "--help"});
  for (const char* part : {"Usage: lm eval [OPTIONS] run [text]\n",
                           "--split NAME:{train,valid,test,speakers}=valid", "--device NAME:{cpu,cuda}"})
    expect_contains(help, part);
  EXPECT_EQ(usage_error({"help", "trian"}), "unknown command 'trian'; did you mean 'train'?");
}

}  // namespace
}  // namespace rondo
