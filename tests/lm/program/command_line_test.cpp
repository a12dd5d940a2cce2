#include "lm/program/command_line.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>

#include "lm/program/shell_command.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

Command parse(std::vector<const char*> words) {
  words.insert(words.begin(), "lm");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}
template <class Options>
Options parse_as(const std::vector<const char*>& words) {
  return std::get<Options>(parse(words));
}
std::string usage_error(const std::vector<const char*>& words) {
  return error_of([&] { parse(words); });
}

TEST(CommandLine, Train) {
  const auto options =
      parse_as<TrainOptions>({"train", "--epochs", "5", "--recipe", "demo", "--data", "a b", "--set",
                              "model.layers=2", "--set", "train.epochs=9", "--seed=7", "--threads", "3"});
  EXPECT_EQ(options.recipe, "demo");
  EXPECT_EQ(options.data, "a b");
  EXPECT_EQ(options.out, "");
  EXPECT_EQ(options.device, std::nullopt);
  EXPECT_EQ(options.threads, 3);
  EXPECT_FALSE(options.resume);
  EXPECT_EQ(options.command,
            "lm train --epochs 5 --recipe demo --data 'a b' --set model.layers=2 --set train.epochs=9 "
            "--seed=7 --threads 3");
  const Recipe recipe = resolve_recipe(options.recipe, options.settings);
  EXPECT_EQ(recipe.model.layers, 2);
  EXPECT_EQ(recipe.trainer.epochs, 5) << "a named flag wins over --set wherever it stands";
  EXPECT_EQ(recipe.trainer.seed, 7);
}

TEST(CommandLine, Resume) {
  const auto options = parse_as<TrainOptions>({"train", "--out", "runs/a", "--resume", "--epochs", "9"});
  EXPECT_TRUE(options.resume);
  EXPECT_EQ(options.out, "runs/a");
  EXPECT_EQ(options.settings.at(0).value, "9");
  expect_contains(usage_error({"train", "--resume"}), "which run");
  expect_contains(usage_error({"train", "--out", "a", "--resume", "--recipe", "demo"}), "leave out --recipe");
  EXPECT_EQ(parse_as<TrainOptions>({"train", "--out", "a", "--resume", "--data", "x"}).data, "x");
  expect_contains(usage_error({"train", "--out", "a", "--resume", "--seed", "2"}), "--seed 2: cannot change");
  expect_contains(usage_error({"train", "--out", "a", "--resume", "--set", "train.batch=2"}),
                  "cannot change");
}

TEST(CommandLine, Finetune) {
  const auto options = parse_as<TrainOptions>({"finetune", "runs/a", "--epochs", "9", "--data", "b", "--out",
                                               "c", "--set", "finetune.learning_rate=5", "--threads", "2"});
  EXPECT_EQ(options.base, "runs/a");
  EXPECT_EQ(options.data, "b");
  EXPECT_EQ(options.out, "c");
  EXPECT_EQ(options.threads, 2);
  EXPECT_FALSE(options.resume);
  EXPECT_EQ(options.settings.at(0).key, "finetune.learning_rate");
  EXPECT_EQ(options.settings.at(1).key, "finetune.epochs");
  expect_contains(usage_error({"finetune"}), "no run given");
  expect_contains(usage_error({"finetune", "runs/a", "--recipe", "demo"}), "unknown option --recipe");
}

TEST(CommandLine, Defaults) {
  const auto evaluate = parse_as<EvaluateOptions>({"eval", "r"});
  EXPECT_EQ(evaluate.run, "r");
  EXPECT_EQ(evaluate.split, "valid");
  EXPECT_FALSE(evaluate.streams.has_value());
  EXPECT_FALSE(evaluate.json);
  const auto score = parse_as<ScoreOptions>({"score", "r"});
  EXPECT_FALSE(score.stateful || score.per_symbol);
  const auto ngram = parse_as<NgramOptions>({"ngram", "--data", "d"});
  EXPECT_EQ(ngram.order, 5);
  EXPECT_EQ(ngram.tokenization.unit, Unit::words);
  EXPECT_FALSE(ngram.tokenization.strip_lines || ngram.json);
  const auto bleu = parse_as<BleuCommandOptions>({"bleu", "a", "b"});
  EXPECT_EQ(bleu.references, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(bleu.tokenization, BleuTokenization::mteval_13a);
  EXPECT_FALSE(bleu.lower_case || bleu.json);
  const auto generate = parse_as<GenerateOptions>({"generate", "r"});
  EXPECT_EQ(generate.symbols, 300);
  EXPECT_EQ(generate.temperature, 1);
  EXPECT_EQ(generate.top_k, 0);
  EXPECT_EQ(generate.top_p, 1);
  EXPECT_FALSE(generate.seed.has_value());
  EXPECT_FALSE(parse_as<RecipesOptions>({"recipes"}).json);
  EXPECT_TRUE(parse_as<RecipesOptions>({"recipes", "--markdown"}).markdown);
  expect_contains(usage_error({"recipes", "--markdown", "--json"}), "excludes");
}

TEST(CommandLine, EveryFlagOfTheOthers) {
  const auto evaluate =
      parse_as<EvaluateOptions>({"eval", "r", "--split", "test", "--streams", "4", "--json"});
  EXPECT_EQ(evaluate.split, "test");
  EXPECT_EQ(evaluate.streams, 4);
  EXPECT_TRUE(evaluate.json);
  EXPECT_EQ(parse_as<EvaluateOptions>({"eval", "r", "--text", "f"}).text, "f");
  const auto score = parse_as<ScoreOptions>({"score", "--stateful", "r", "--per-symbol"});
  EXPECT_TRUE(score.stateful && score.per_symbol);
  const auto generate = parse_as<GenerateOptions>({"generate", "r", "--prompt", "--The", "-n", "5",
                                                   "--temperature", "0", "--top-k", "9", "--top-p", "0.5",
                                                   "--seed", "18", "--allow-unk", "--device", "cuda"});
  EXPECT_EQ(generate.prompt, "--The");
  EXPECT_EQ(generate.symbols, 5);
  EXPECT_EQ(generate.temperature, 0);
  EXPECT_EQ(generate.top_k, 9);
  EXPECT_EQ(generate.top_p, 0.5);
  EXPECT_EQ(generate.seed, 18u);
  EXPECT_TRUE(generate.allow_unknown);
  EXPECT_EQ(generate.device, Device::cuda);
  const auto bleu =
      parse_as<BleuCommandOptions>({"bleu", "--tokenize", "char", "a", "--lowercase", "b", "--json"});
  EXPECT_EQ(bleu.tokenization, BleuTokenization::characters);
  EXPECT_EQ(bleu.references, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(bleu.lower_case && bleu.json);
  const auto info =
      parse_as<InfoOptions>({"info", "--recipe", "demo", "--vocab-size", "50", "--set", "model.layers=2"});
  EXPECT_EQ(info.vocabulary_size, 50);
  EXPECT_EQ(info.settings.at(0).key, "model.layers");
  EXPECT_TRUE(parse_as<InfoOptions>({"info", "--keys"}).keys);
  const auto table = parse_as<TableOptions>({"table", "a", "b", "--markdown"});
  EXPECT_EQ(table.runs, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(table.markdown && !table.json);
}

TEST(CommandLine, NamesOfOtherPrograms) {
  EXPECT_EQ(usage_error({"train", "--lr", "1"}),
            "train: unknown option --lr; here it is a setting: --set train.learning_rate=VALUE");
  EXPECT_EQ(usage_error({"finetune", "runs/a", "--lr", "1"}),
            "finetune: unknown option --lr; here it is a setting: --set finetune.learning_rate=VALUE");
  EXPECT_EQ(usage_error({"train", "--batch-size=3"}),
            "train: unknown option --batch-size; here it is a setting: --set train.batch=VALUE");
  using Pair = std::pair<const char*, const char*>;
  for (const auto& [option, key] :
       {Pair("--hidden", "model.hidden"), Pair("--cell", "model.cell"), Pair("--unit", "data.unit"),
        Pair("--clip", "train.clip"), Pair("--weight-decay", "train.weight_decay")})
    EXPECT_EQ(usage_error({"sweep", option, "5"}),
              fmt::format("sweep: unknown option {}; here it is a setting: --set {}=VALUE", option, key));
  for (const char* command : {"test", "evaluate", "ppl", "perplexity"})
    EXPECT_EQ(usage_error({command, "r"}), fmt::format("unknown command '{}'; here it is eval", command));
  EXPECT_EQ(usage_error({"train", "--max-update", "5"}),
            "train: unknown option --max-update; here it is --steps");
  EXPECT_EQ(usage_error({"generate", "r", "--max-tokens", "5"}),
            "generate: unknown option --max-tokens; here it is -n");
  for (const auto& [option, here] :
       {Pair("--gpu", "--device cuda"), Pair("--cuda", "--device cuda"), Pair("--fp16", "--precision bf16"),
        Pair("--output", "--out"), Pair("--model", "--recipe")})
    EXPECT_EQ(usage_error({"train", option, "5"}),
              fmt::format("train: unknown option {}; here it is {}", option, here));
  EXPECT_EQ(usage_error({"ngram", "-o", "3", "--data", "d"}), "ngram: unknown option -o; here it is --order");
  EXPECT_EQ(usage_error({"eval", "r", "--split", "test", "--batch-size", "10"}),
            "eval: unknown option --batch-size; here it is --streams");
  EXPECT_EQ(usage_error({"eval", "r", "--split", "test", "a.txt"}),
            "eval: --split names a text of the run, and a.txt is another one: leave out one of them");
  EXPECT_EQ(usage_error({"generate", "r", "-p", "a"}), "generate: unknown option -p; here it is --prompt");
  EXPECT_EQ(usage_error({"table", "r", "--format", "csv"}),
            "table: unknown option --format; here it is --csv, --markdown or --json");
  EXPECT_EQ(usage_error({"eval", "r", "--output", "5"}),
            "eval: unknown option --output; see " + command_with({"eval", "--help"}))
      << "it writes no file";
  for (const auto& [command, here] :
       {Pair("resume", "train --out RUN --resume"), Pair("tune", "eval --tune"), Pair("ls", "table"),
        Pair("version", "--version"), Pair("-v", "--version")})
    EXPECT_EQ(usage_error({command}), fmt::format("unknown command '{}'; here it is {}", command, here));
  expect_contains(usage_error({"infer", "r"}), "here it is generate");
  for (const auto& [value, here] : {Pair("dev", "valid"), Pair("val", "valid")})
    expect_contains(usage_error({"eval", "r", "--split", value}), fmt::format("; here it is '{}'", here));
  expect_contains(usage_error({"eval", "r", "--device", "gpu"}), "not in {cpu,cuda}; here it is 'cuda'");
  expect_contains(usage_error({"export", "r", "--format", "torch"}), "; here it is 'pytorch'");
  expect_contains(usage_error({"plot", "r", "--unit", "ppl"}), "; here it is 'perplexity'");
  expect_contains(usage_error({"ngram", "--unit", "chars"}), "; here it is 'characters'");
  expect_contains(error_of([] { resolve_recipe("demo", {parse_setting("cache.size=1")}); }),
                  "unknown key 'cache.size'; here it is 'cache.window'");
  expect_contains(error_of([] { resolve_recipe("demo", {parse_setting("dynamic.lr=1")}); }),
                  "unknown key 'dynamic.lr'; here it is 'dynamic.learning_rate'");
  EXPECT_EQ(usage_error({"eval", "r", "--lr", "5"}),
            "eval: unknown option --lr; here it is --dynamic --set dynamic.learning_rate=X");
  expect_contains(error_of([] { resolve_recipe("demo", {parse_setting("lr=1")}); }),
                  "unknown key 'lr'; here it is 'train.learning_rate'");
  EXPECT_EQ(parse_as<GenerateOptions>({"sample", "r", "--prompt", "a"}).prompt, "a");
}

TEST(CommandLine, WordsInTheWrongPlace) {
  const TemporaryFolder folder;
  const std::string text = folder / "l.txt", run = folder / "run";
  write_bytes(text, "a\n");
  std::filesystem::create_directory(run);
  write_bytes(run + "/config.toml", "");
  EXPECT_EQ(usage_error({"train", "demo", text.c_str()}),
            "train: unexpected argument 'demo'; did you mean: " +
                command_with({"train", "--recipe", "demo", "--data", text}));
  expect_contains(usage_error({"ngram", text.c_str()}), command_with({"ngram", "--data", text}));
  expect_contains(usage_error({"generate", run.c_str(), "The king"}),
                  command_with({"generate", "RUN", "--prompt", "The king"}));
  expect_contains(usage_error({"translate", run.c_str(), text.c_str()}),
                  "it reads standard input: " + command_with({"translate", "RUN"}) + " < " + text);
  expect_contains(usage_error({"score", text.c_str(), run.c_str()}),
                  "the run comes first: " + command_with({"score", run, text}));
  expect_contains(usage_error({"eval", text.c_str()}), "the run comes first: ");
  expect_contains(usage_error({"score", run.c_str(), run.c_str(), text.c_str()}), "--with " + run);
  expect_contains(usage_error({"info", run.c_str(), "--keys"}), run + "/config.toml");
  expect_contains(usage_error({"info", "--keys", "--cells"}), "only one of");
  expect_contains(usage_error({"import", (folder / "none.pt").c_str()}), "none.pt: no such file");
}

TEST(CommandLine, NamesAreIndependentOfCase) {
  EXPECT_EQ(parse_as<GenerateOptions>({"generate", "r", "--device", "CUDA"}).device, Device::cuda);
  const Recipe recipe =
      resolve_recipe("demo", {parse_setting("model.cell=LSTM"), parse_setting("train.optimizer=AdamW")});
  EXPECT_EQ(recipe.model.cell, "lstm");
  EXPECT_EQ(recipe.trainer.optimizer.kind, OptimizerKind::adamw);
}

TEST(CommandLine, BeginningWithARun) {
  const auto options = parse_as<TrainOptions>(
      {"train", "--init-from", "runs/a", "--data", "new", "--steps", "9", "--max-minutes", "0.5", "--quiet"});
  EXPECT_EQ(options.init_from, "runs/a");
  EXPECT_EQ(options.max_minutes, 0.5);
  EXPECT_TRUE(options.quiet);
  EXPECT_EQ(options.settings.at(0).key, "train.steps");
  expect_contains(usage_error({"train", "--init-from", "a", "--recipe", "demo"}), "leave out --recipe");
  expect_contains(usage_error({"train", "--init-from", "a", "--resume", "--out", "b"}),
                  "leave out --init-from");
}

TEST(CommandLine, UsageErrors) {
  EXPECT_EQ(parse_as<Help>({}).exit_status, 2) << "the help, on stderr";
  expect_contains(usage_error({""}), "no command given");
  EXPECT_EQ(usage_error({"trian"}), "unknown command 'trian'; did you mean 'train'?");
  EXPECT_EQ(usage_error({"--versoin"}), "unknown option --versoin; did you mean '--version'?");
  EXPECT_EQ(usage_error({"train", "--recpie", "demo"}),
            "train: unknown option --recpie; did you mean '--recipe'?");
  EXPECT_EQ(usage_error({"train", "--epoch=3"}), "train: unknown option --epoch; did you mean '--epochs'?");
  expect_contains(usage_error({"train"}), "no recipe given");
  expect_contains(usage_error({"train", "--recipe", "demo", "--data", "x", "--set", "layers"}), "key=value");
  EXPECT_EQ(usage_error({"train", "--set"}), "train: --set needs KEY=VALUE, as in --set model.layers=2");
  EXPECT_EQ(usage_error({"generate", "a", "--temperature"}), "generate: --temperature needs T");
  EXPECT_EQ(usage_error({"generate", "a", "--temperature", "1", "--temperature", "2"}),
            "generate: --temperature is given twice");
  using Words = std::vector<const char*>;
  for (const Words& words : {Words{"train", "--resume", "runs/x"}, Words{"train", "runs/x", "--resume"}})
    EXPECT_EQ(usage_error(words),
              "train: unexpected argument 'runs/x'; the run goes to --out: " + resume_command("runs/x"));
  expect_contains(usage_error({"eval"}), "no run given");
  expect_contains(usage_error({"eval", "a", "b", "c"}), "unexpected argument 'c'");
  EXPECT_EQ(parse_as<EvaluateOptions>({"eval", "a", "b"}).text, "b");
  expect_contains(usage_error({"eval", "a", "--split", "tset"}), "tset");
  expect_contains(usage_error({"eval", "a", "--split", "test", "--text", "f"}), "leave out one of them");
  expect_contains(usage_error({"eval", "a", "--streams", "0"}), "'0': expected an integer, 1 to 1000000");
  expect_contains(usage_error({"eval", "a", "--device", "tpu"}), "tpu");
  expect_contains(usage_error({"eval", "a", "--threads", "2x"}), "'2x': expected an integer");
  expect_contains(usage_error({"generate", "a", "-n", "5.5"}), "'5.5': expected an integer, at least 0");
  expect_contains(usage_error({"generate", "a", "-n", "-1"}), "'-1': expected an integer, at least 0");
  expect_contains(usage_error({"generate", "a", "--temperature", "nan"}), "expected a number");
  expect_contains(usage_error({"generate", "a", "--temperature", "-0.1"}), "expected a number, 0 or above");
  expect_contains(usage_error({"generate", "a", "--top-p", "0"}), "expected a number above 0, up to 1");
  expect_contains(usage_error({"generate", "a", "--seed", "-3"}), "expected an integer");
  for (const char* flag : {"--recipe", "--data", "--out", "--epochs", "--seed"})
    expect_contains(usage_error({"train", flag, ""}), fmt::format("{}: '': expected a value", flag));
  for (const char* flag : {"--text", "--data"})
    expect_contains(usage_error({"eval", "a", flag, ""}), fmt::format("{}: '': expected a value", flag));
  expect_contains(usage_error({"ngram", "--data", "a", "--arpa", ""}), "--arpa: '': expected a value");
  EXPECT_NO_THROW(parse({"generate", "a", "--prompt", ""}));
  expect_contains(usage_error({"table"}), "no run given");
  expect_contains(usage_error({"table", "a", "--json", "--markdown"}), "excludes");
  expect_contains(usage_error({"info"}), "give one of");
  expect_contains(usage_error({"info", "run", "--operators"}), "give only one of");
  expect_contains(usage_error({"info", "run", "--vocab-size", "5"}), "go with --recipe");
}

TEST(CommandLine, HelpHasAnExampleForEveryCommand) {
  expect_contains(parse_as<Help>({"--help"}).text, "train");
  expect_contains(parse_as<Help>({"--version"}).text, RONDO_VERSION);
  for (const char* command :
       {"train", "finetune", "eval", "score", "generate", "translate", "classify", "answer", "embed",
        "transcribe", "sweep", "probe", "ngram", "bleu", "import", "export", "info", "recipes", "table"}) {
    const std::string text = parse_as<Help>({command, "--help"}).text;
    expect_contains(text, std::string("Example:\n  lm ") + command);
  }
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

}  // namespace
}  // namespace rondo
