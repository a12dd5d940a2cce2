// The command line, built on CLI11: see command_line.h.
#include "lm/program/command_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <new>
#include <set>

#include "data/arpa.h"
#include "data/files.h"
#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/help.h"
#include "lm/program/nearest.h"
#include "lm/program/options.h"
#include "lm/program/other_names.h"
#include "lm/program/progress.h"
#include "lm/program/run_folder.h"
#include "lm/program/shell_command.h"
#include "lm/program/version.h"
#include "tensor/error.h"
#include "tensor/threads.h"

namespace rondo {
namespace {

/// The names by which options are given: "--recipe", "-n".
std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    for (const std::string& name : option->get_snames()) flags.push_back("-" + name);
  }
  return flags;
}

bool is_flag(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

/// The end of an error text: what another program's flag is called here, else the nearest one.
std::string instead_of(const std::string& flag, const CLI::App& command) {
  const std::string name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  if (const std::string option = option_called(command.get_name(), name, flags_of(command)); !option.empty())
    return fmt::format("; here it is {}{}", option.size() == 1 ? "-" : "--", option);
  const std::string called = setting_called(name);
  std::string key = called.empty() ? setting_ending_in(name) : called;
  const bool has_rate = command.get_name() == "finetune" && key == "train.learning_rate";
  if (has_rate) key = "finetune.learning_rate";
  const bool trains = command.get_name() == "train" || command.get_name() == "sweep" || has_rate;
  if (trains && !key.empty()) return fmt::format("; here it is a setting: --set {}=VALUE", key);
  return did_you_mean(flag, flags_of(command),
                      fmt::format("; see {}", command_with({command.get_name(), "--help"})));
}

/// Words without an option, with the options that they seem to be of: "--recipe demo --data ptb"; empty: the
/// command has no such options.
std::string with_options(const std::vector<std::string>& words, const CLI::App& command) {
  if (!command.get_option_no_throw("--data")) return "";
  const std::vector<BuiltInRecipe> recipes = built_in_recipes();
  const auto is_recipe = [&](const std::string& word) {
    return word.ends_with(".toml") || std::any_of(recipes.begin(), recipes.end(),
                                                  [&](const BuiltInRecipe& it) { return it.name == word; });
  };
  std::vector<std::string> given{command.get_name()};
  for (const std::string& word : words) {
    const bool names_recipe = command.get_option_no_throw("--recipe") && is_recipe(word);
    if (!names_recipe && !std::filesystem::exists(word)) return "";
    given.insert(given.end(), {names_recipe ? "--recipe" : "--data", word});
  }
  return command_with(given);
}

/// Refuses what no option took, and names the nearest flag.
void check_leftovers(const CLI::App& command) {
  const CLI::Option* resume = command.get_option_no_throw("--resume");
  const bool resumes = resume && resume->count() > 0;
  for (const std::string& word : command.remaining()) {
    const std::string flag = word.substr(0, word.find('='));
    check_input(!is_flag(word), "{}: unknown option {}{}", command.get_name(), flag,
                instead_of(flag, command));
    check_input(!resumes, "{}: unexpected argument '{}'; the run goes to --out: {}", command.get_name(), word,
                resume_command(word));
    check_input(command.get_name() != "eval" || !file_is_there(word),
                "eval: unexpected argument '{}': it reads one text; {} reads several", word,
                command_with({"score", "RUN", "FILE...", "--totals"}));
    check_input(command.get_name() != "generate",
                "generate: unexpected argument '{}'; to continue a text: {}", word,
                command_with({"generate", "RUN", "--prompt", word}));
    const bool reads_input =
        std::set<std::string>{"translate", "classify", "embed"}.count(command.get_name()) > 0;
    check_input(!reads_input || !file_is_there(word),
                "{}: unexpected argument '{}'; it reads standard input: {} < {}", command.get_name(), word,
                command_with({command.get_name(), "RUN"}), shell_command({word}));
    const std::string meant = with_options(command.remaining(), command);
    throw InputError(fmt::format(
        "{}: unexpected argument '{}'; {}", command.get_name(), word,
        meant.empty() ? "see " + command_with({command.get_name(), "--help"}) : "did you mean: " + meant));
  }
}

/// CLI11's error text for an option that is given twice or without its value, in plain words.
std::string plain_text(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  const std::string missing = " missing", one = ": 1 required ", no_choice = " not in {";
  if (const std::size_t at = text.find(no_choice); at != std::string::npos && text.ends_with('}')) {
    const std::size_t begin = name.size() + 2;
    const std::string choices = text.substr(at + no_choice.size(), text.size() - at - no_choice.size() - 1);
    return text + instead_of_value(text.substr(begin, at - begin), CLI::detail::split(choices, ','));
  }
  if (text.starts_with(name + ": At Most 1 required")) return name + " is given twice";
  if (!text.starts_with(name + one) || !text.ends_with(missing)) return text;
  const std::size_t begin = name.size() + one.size();
  const std::string value = text.substr(begin, text.size() - missing.size() - begin);
  return fmt::format("{} needs {}{}", name, value,
                     value == "KEY=VALUE" ? ", as in --set model.layers=2" : "");
}

/// InputError if a command that reads files beside a run got a file in place of the run.
void check_run_comes_first(const CLI::App& command, const std::string& run,
                           const std::vector<std::string>& files) {
  const bool is_text = std::filesystem::is_regular_file(run) &&
                       std::filesystem::path(run).filename() != RunFolder().model().filename() &&
                       std::filesystem::path(run).extension() != ".toml";
  check_input(!is_arpa(run) || !is_text, "{}: no run at {}: it is an n-gram model, for {}",
              command.get_name(), run,
              command_with({"ngram", "--arpa", run, "--text", files.empty() ? "FILE" : files.front()}));
  check_input(!is_text, "{}: no run at {}: it is a file, and the run comes first: {}", command.get_name(),
              run, command_with({command.get_name(), files.empty() ? "RUN" : files.front(), run}));
  for (const std::string& file : files)
    check_input(command.get_name() != "score" || !file_is_there(RunFolder{file}.config()),
                "score: {} is a run, and one comes first; to interpolate it with others, give each a --with: "
                "--with {}",
                file, file);
}

void check_run_given(const CLI::App& command, const std::string& run,
                     const std::string& example = "runs/char-lstm-1") {
  check_input(!run.empty(), "{}: no run given; as in: {} {} {}", command.get_name(), this_program(),
              command.get_name(), example);
}

std::vector<Setting> parse_settings(const std::vector<std::string>& texts) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) settings.push_back(parse_setting(text));
  return settings;
}

/// What `train` and `finetune` share; `section` has their epochs.
TrainOptions& train_options(Options& parser, const std::string& section, int argc, const char* const* argv) {
  TrainOptions& train = parser.train;
  train.settings = parse_settings(parser.train_sets);
  if (!parser.epochs.empty())
    train.settings.push_back({"--epochs " + parser.epochs, section + ".epochs", parser.epochs});
  if (!parser.steps.empty())
    train.settings.push_back({"--steps " + parser.steps, "train.steps", parser.steps});
  train.command = shell_command({argv, argv + argc});
  return train;
}

/// `lm help COMMAND`.
Command help_command(const Options& parser) {
  const std::string& name = parser.explained;
  const auto help_of = [](const CLI::App& command, const std::string& called) {
    return Help{command.get_formatter()->make_help(&command, called, CLI::AppFormatMode::Normal)};
  };
  if (name.empty()) return help_of(parser.app, "lm");
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(parser.app)) {
    names.push_back(command->get_name());
    if (command->check_name(name)) return help_of(*command, "lm " + command->get_name());
  }
  throw InputError(fmt::format("help: unknown command '{}'{}", name, did_you_mean(name, names)));
}

Command train_command(Options& parser, int argc, const char* const* argv) {
  TrainOptions& train = train_options(parser, "train", argc, argv);
  if (!parser.seed.empty()) train.settings.push_back({"--seed " + parser.seed, "train.seed", parser.seed});
  if (!train.resume && !train.init_from.empty()) {
    check_input(train.recipe.empty(), "train --init-from: leave out --recipe; the run has its own");
    return train;
  }
  if (!train.resume) {
    check_input(!train.recipe.empty() || train.out.empty() || !file_is_there(RunFolder{train.out}.config()),
                "train: {} holds a run; to continue it: {}", train.out, resume_command(train.out));
    check_input(!train.recipe.empty(),
                "train: no recipe given; `{} recipes` lists them, as in --recipe char-lstm", this_program());
    return train;
  }
  check_input(train.init_from.empty(),
              "train --resume: leave out --init-from; the run knows what it began with");
  check_input(!train.out.empty(), "train --resume: which run? As in: {}", resume_command("runs/char-lstm-1"));
  check_input(train.recipe.empty(), "train --resume: leave out --recipe; the run knows its own");
  for (const Setting& setting : train.settings)
    check_input(
        setting.key == "train.epochs" || setting.key == "train.steps",
        "{}: cannot change in a resumed run; only --epochs, --steps, --max-minutes, --device, --precision, "
        "--threads and --data may; to begin a new run with its best weights: {}",
        setting.where,
        command_with({"train", "--init-from", train.out, "--data", "FILE", "--set",
                      setting.key + "=" + setting.value}));
  return train;
}

Command sweep_command(Options& parser, int argc, const char* const* argv) {
  SweepOptions& sweep = parser.sweep;
  check_input(!sweep.recipe.empty(),
              "sweep: no recipe given; `{} recipes` lists them, as in --recipe char-lstm", this_program());
  for (const std::string& text : parser.sweep_sets) sweep.settings.push_back(parse_swept(text));
  for (const auto& [flag, value] : {std::pair{"epochs", parser.epochs}, std::pair{"steps", parser.steps}})
    if (!value.empty())
      sweep.settings.push_back(
          {fmt::format("--{} {}", flag, value), {fmt::format("train.{}", flag)}, {{value}}});
  sweep.words.assign(argv, argv + argc);
  return sweep;
}

Command import_command(Options& parser, int argc, const char* const* argv) {
  ImportOptions& imported = parser.imported;
  check_input(!imported.weights.empty(),
              "import: no weights given; as in: {} import model.safetensors --recipe zaremba-small --vocab "
              "vocab.txt",
              this_program());
  check_input(std::filesystem::exists(imported.weights), "import: {}: no such file or folder",
              imported.weights);
  const bool is_export = std::filesystem::is_directory(imported.weights);
  check_input(is_export || !imported.recipe.empty(),
              "import: no recipe given, which says what the weights are of; as in --recipe zaremba-small");
  check_input(is_export || !imported.vocabulary.empty(),
              "import: no vocabulary given, which says what the rows are of; as in --vocab vocab.txt");
  imported.settings = parse_settings(parser.import_sets);
  imported.command = shell_command({argv, argv + argc});
  return imported;
}

Command info_command(Options& parser) {
  InfoOptions& info = parser.info;
  const bool only_recipe = !info.recipe.empty() && !info.keys;
  const int asked = !info.run.empty() + only_recipe + info.operators + info.keys + info.cells;
  const std::filesystem::path config = RunFolder{info.run}.config();
  check_input(info.run.empty() || !info.keys || file_is_there(config),
              "info: --keys takes no name, it lists all settings: {} | grep -A 1 {}",
              command_with({"info", "--keys"}), info.run);
  check_input(info.run.empty() || !info.keys,
              "info: --keys lists the settings of recipes; those of this run: {}", config.string());
  check_input(asked == 1, "info: give {}one of: a run, --recipe NAME, --operators, --keys, --cells",
              asked > 1 ? "only " : "");
  check_input(!info.markdown || info.cells, "info: --markdown is for --cells");
  info.settings = parse_settings(parser.info_sets);
  check_input(
      !info.recipe.empty() || (info.settings.empty() && info.vocabulary_size == 0 && info.data.empty()),
      "info: --set, --vocab-size and --data go with --recipe");
  return info;
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  Options parser;
  constexpr int widest = 100;  // lines that are longer are hard to read
  wrap_help(parser.app, std::min(terminal_columns(STDOUT_FILENO), widest));
  std::vector<std::string> commands;
  for (const CLI::App* command : parser.app.get_subcommands({})) {
    commands.push_back(command->get_name());
    for (const std::string& alias : command->get_aliases()) commands.push_back(alias);
  }
  constexpr int usage = 2;  // the exit status
  if (argc < 2) return Help{parser.app.help(), usage};
  const std::string typed = argv[1];
  check_input(!typed.empty(), "no command given; {} --help lists them", this_program());
  const std::string command_here = command_called(typed);
  const bool is_command = std::find(commands.begin(), commands.end(), typed) != commands.end();
  check_input(is_command || command_here.empty(), "unknown command '{}'; here it is {}", typed, command_here);
  check_input(is_command || is_flag(typed), "unknown command '{}'{}", typed,
              did_you_mean(typed, commands, fmt::format("; {} --help lists them", this_program())));
  const auto flags = flags_of(parser.app);
  check_input(is_command || typed == "-h" || typed == "--help" || typed == "--version", "unknown option {}{}",
              typed, did_you_mean(typed, flags));
  try {
    parser.app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Help{parser.app.help()};
  } catch (const CLI::CallForVersion&) {
    return Help{parser.app.version() + "\n"};
  } catch (const CLI::ParseError& error) {
    throw InputError(fmt::format("{}: {}", typed, plain_text(error.what())));
  }
  const CLI::App& command = *parser.app.get_subcommands().at(0);
  check_leftovers(command);
  const std::string first = command.get_name();
  if (typed != first) fmt::print(stderr, "lm: {} is called {} here\n", typed, first);
  if (first == "help") return help_command(parser);
  if (first == "train") return train_command(parser, argc, argv);
  if (first == "sweep") return sweep_command(parser, argc, argv);
  if (first == "finetune") {
    check_run_given(command, parser.train.base);
    return train_options(parser, "finetune", argc, argv);
  }
  if (first == "info") return info_command(parser);
  if (first == "recipes") return parser.recipes;
  if (first == "import") return import_command(parser, argc, argv);
  if (first == "export") {
    check_run_given(command, parser.exported.run, "runs/char-lstm-1 --format onnx --out exported");
    check_input(!parser.exported.out.empty(), "export: no folder given; as in: {}",
                command_with({"export", parser.exported.run, "--out", "exported"}));
    return parser.exported;
  }
  if (first == "ngram") {
    const bool is_only_measured = !parser.ngram.arpa.empty() && !parser.ngram.text.empty();
    check_input(!parser.ngram.data.empty() || is_only_measured,
                "ngram: which text? As in: {} ngram --data ptb --order 5", this_program());
    return parser.ngram;
  }
  if (first == "bleu") {
    check_input(!parser.bleu.references.empty(),
                "bleu: no reference given; as in: {} bleu reference.txt < translations.txt", this_program());
    return parser.bleu;
  }
  if (first == "probe") {
    check_run_given(command, parser.probe.runs.empty() ? "" : parser.probe.runs.front());
    return parser.probe;
  }
  if (first == "table") {
    check_run_given(command, parser.table.runs.empty() ? "" : parser.table.runs.front());
    return parser.table;
  }
  if (first == "plot") {
    check_run_given(command, parser.plot.runs.empty() ? "" : parser.plot.runs.front());
    return parser.plot;
  }
  if (first == "eval") {
    check_run_given(command, parser.evaluate.run);
    check_input(parser.evaluate.text.empty() || command.get_option("--split")->count() == 0,
                "eval: --split names a text of the run, and {} is another one: leave out one of them",
                parser.evaluate.text);
    check_run_comes_first(
        command, parser.evaluate.run,
        parser.evaluate.text.empty() ? std::vector<std::string>() : std::vector{parser.evaluate.text});
    parser.evaluate.settings = parse_settings(parser.eval_sets);
    return parser.evaluate;
  }
  if (first == "score") {
    check_run_given(command, parser.score.run);
    check_run_comes_first(command, parser.score.run, parser.score.files);
    return parser.score;
  }
  if (first == "translate") {
    check_run_given(command, parser.translate.run, "runs/attention-multi30k-1 < sentences.de");
    return parser.translate;
  }
  if (first == "transcribe") {
    check_run_given(command, parser.transcribe.run, "runs/speech-digits-1 FILE.wav");
    check_input(!parser.transcribe.files.empty(), "transcribe: no recording given; as in: {}",
                command_with({"transcribe", parser.transcribe.run, "FILE.wav"}));
    return parser.transcribe;
  }
  if (first == "classify") {
    check_run_given(command, parser.classify.run, "runs/classify-trec-1 < questions.txt");
    return parser.classify;
  }
  if (first == "answer") {
    check_run_given(command, parser.answer.run, "runs/attentive-reader-1 < questions.txt");
    return parser.answer;
  }
  if (first == "embed") {
    check_run_given(command, parser.embed.run, "runs/skip-thought-1 < sentences.txt");
    return parser.embed;
  }
  check_run_given(command, parser.generate.run);
  return parser.generate;
}

Failure current_failure() {
  const auto failure = [](const std::string& text, int exit_status) {
    std::string line = text;
    std::replace(line.begin(), line.end(), '\n', ' ');
    return Failure{"lm: " + printable(line), exit_status};
  };
  try {
    throw;
  } catch (const InputError& error) {
    return failure(error.what(), 2);
  } catch (const std::filesystem::filesystem_error& error) {  // what a path names cannot be looked at
    return failure(fmt::format("{}: {}", error.path1().string(), error.code().message()), 2);
  } catch (const std::bad_alloc&) {
    return failure(
        "not enough memory: use a smaller model, train.batch or train.length, or set train.micro_batch", 1);
  } catch (const std::exception& error) {
    return failure(error.what(), 1);
  } catch (...) {
    return failure("an unknown failure", 1);
  }
}

}  // namespace rondo
