// The command line, built on CLI11: see cli.h.
#include "lm/program/cli.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <new>
#include <span>
#include <string_view>
#include <system_error>

#include "data/input_file.h"
#include "data/text.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "tensor/error.h"

namespace rondo {

// --- Nearest names ---

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i holds the distances from the first i letters of `a` to every prefix of `b`.
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

std::string nearest(std::string_view name, const std::vector<std::string>& known) {
  const auto last_part = [](std::string_view of) { return of.substr(of.find_last_of('.') + 1); };
  const auto without_dashes = [](std::string_view of) {
    return of.substr(std::min(of.find_first_not_of('-'), of.size()));
  };
  const std::string_view section = name.substr(0, name.size() - last_part(name).size());
  std::string best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : known) {
    // Of names in sections, the last parts are compared: the section alone makes no two names near.
    const bool has_section = candidate.find('.') != std::string::npos;
    const std::string_view typed = has_section ? last_part(name) : without_dashes(name);
    const std::string_view other = has_section ? last_part(candidate) : without_dashes(candidate);
    constexpr std::size_t least_beginning = 3;  // letters: "temp" begins "temperature"
    const bool begins_it = typed.size() >= least_beginning && other.starts_with(typed);
    const std::size_t longer = std::max(typed.size(), other.size());
    const auto is_far = [&](std::size_t edits) { return !begins_it && edits * 5 > longer * 2; };
    // So many edits are needed at least; a typed text of great length is then not compared.
    if (is_far(longer - std::min(typed.size(), other.size()))) continue;
    const std::size_t edits = begins_it ? 1 : edit_distance(typed, other);
    const bool is_elsewhere = has_section && (section.empty() || !candidate.starts_with(section));
    if (is_far(edits) || edits + is_elsewhere >= best_distance) continue;
    best_distance = edits + is_elsewhere;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  return did_you_mean(name, known, fmt::format("; known: {}", fmt::join(known, ", ")));
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                         const std::string& otherwise) {
  const std::string near = nearest(name, known);
  return near.empty() ? otherwise : fmt::format("; did you mean '{}'?", near);
}

// --- Commands for a shell ---

std::string shell_command(const std::vector<std::string>& words) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:@%+";
  std::string command;
  for (const std::string& word : words) {
    if (&word != words.data()) command += ' ';
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) {
      command += word;
      continue;
    }
    command += '\'';
    for (const char letter : word) command += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    command += '\'';
  }
  return command;
}

std::string this_program() { return shell_command({program_invocation_name}); }

std::string command_with(const std::vector<std::string>& words) {
  return this_program() + " " + shell_command(words);
}

std::string resume_command(const std::filesystem::path& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words{"train", "--out", folder.string(), "--resume"};
  words.insert(words.end(), more.begin(), more.end());
  return command_with(words);
}

// --- Names of other programs ---

namespace {

struct OtherName {
  std::string_view other, here;
};
constexpr OtherName other_settings[] = {
    {"lr", "train.learning_rate"},
    {"lr", "dynamic.learning_rate"},
    {"batch_size", "train.batch"},
    {"bptt", "train.length"},
    {"seq_len", "train.length"},
    {"optim", "train.optimizer"},
    {"wdecay", "train.weight_decay"},
    {"clip_norm", "train.clip"},
    {"emsize", "model.embedding"},
    {"embedding_size", "model.embedding"},
    {"nhid", "model.hidden"},
    {"hidden_size", "model.hidden"},
    {"nlayers", "model.layers"},
    {"num_layers", "model.layers"},
    {"tie_weights", "model.tied"},
    {"log_interval", "train.log_every"},
    {"patience", "train.early_stopping"},
    {"lr_scheduler", "train.schedule"},
};
constexpr OtherName other_options[] = {
    {"gpu", "--device cuda"},    {"cuda", "--device cuda"}, {"fp16", "--precision bf16"},
    {"save", "--out"},           {"output", "--out"},       {"model", "--recipe"},
    {"max-epochs", "--epochs"},  {"max-steps", "--steps"},  {"beam-size", "--beam"},
    {"batch-size", "--streams"}, {"max-tokens", "-n"},      {"length", "-n"},
    {"p", "--prompt"},           {"t", "--temperature"},    {"ppl", "--totals"},
};
constexpr OtherName other_commands[] = {
    {"evaluate", "eval"},     {"test", "eval"},
    {"perplexity", "eval"},   {"resume", "train --out RUN --resume"},
    {"convert", "export"},    {"list", "table"},
    {"version", "--version"},
};
constexpr OtherName other_values[] = {
    {"gpu", "cuda"},  {"fp16", "bf16"},      {"dev", "valid"},
    {"val", "valid"}, {"ppl", "perplexity"}, {"chars", "characters"},
};

/// Whether the names that others use have this one, and `fits` holds for its name here.
template <class Fits>
std::string name_here(std::string_view other, std::span<const OtherName> names, Fits fits) {
  for (const OtherName& it : names)
    if (it.other == other && fits(it.here)) return std::string(it.here);
  return "";
}

bool is_among(std::string_view name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string setting_called(std::string_view name) {
  std::string word(name.substr(name.find_last_of('.') + 1));
  const std::string_view section = name.substr(0, name.size() - word.size());
  std::replace(word.begin(), word.end(), '-', '_');
  return name_here(word, other_settings, [&](std::string_view key) { return key.starts_with(section); });
}

std::string setting_ending_in(std::string_view word) {
  std::string ending = fmt::format(".{}", word);
  std::replace(ending.begin(), ending.end(), '-', '_');
  Recipe recipe;
  for (const Key& key : keys_of(recipe))
    if (key.name.ends_with(ending) && !key.name.starts_with("published.")) return key.name;
  return "";
}

std::string command_called(std::string_view name) {
  return name_here(name, other_commands, [](std::string_view) { return true; });
}

std::string option_called(std::string_view name, const std::vector<std::string>& flags) {
  return name_here(name, other_options,
                   [&](std::string_view here) { return is_among(here.substr(0, here.find(' ')), flags); });
}

std::string instead_of_value(const std::string& value, const std::vector<std::string>& choices) {
  const std::string here =
      name_here(value, other_values, [&](std::string_view choice) { return is_among(choice, choices); });
  return here.empty() ? did_you_mean(value, choices, "") : fmt::format("; here it is '{}'", here);
}

// --- Command line ---

namespace {

constexpr int usage = 2;  // the exit status

/// If a standard stream is closed, the first opened file must not take its place, and reading from it must be
/// an error; an exceeded file-size limit must be an error, not a signal that kills.
void prepare_process() {
  for (int stream = 0; stream <= 2; ++stream)
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_WRONLY);
  std::signal(SIGXFSZ, SIG_IGN);
}

/// Breaks the lines of the help, which CLI11 leaves as they are, to the width of the terminal.
void wrap_help(CLI::App& app) {
  constexpr int widest = 100, names = 28, narrowest = 30;  // columns; lines that are longer are hard to read
  const int width = std::min(terminal_columns(STDOUT_FILENO), widest);
  const int beside_names = std::max(narrowest, width - names);
  app.get_formatter()->column_width(names);
  app.get_formatter()->label("Usage", "\nUsage");
  app.get_formatter()->label("Positionals", "Arguments");
  app.footer(wrapped(app.get_footer(), width));
  for (CLI::Option* option : app.get_options())
    option->description(wrapped(option->get_description(), beside_names));
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    command->description(wrapped(command->get_description(), beside_names));
    wrap_help(*command);
  }
}

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
  const std::vector<std::string> flags = flags_of(command);
  const std::string name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  if (const std::string option = option_called(name, flags); !option.empty())
    return fmt::format("; here it is {}", option);
  const bool trains = command.get_option_no_throw("--recipe") && command.get_option_no_throw("--epochs");
  const std::string called = setting_called(name), key = called.empty() ? setting_ending_in(name) : called;
  if (trains && !key.empty()) return fmt::format("; here it is a setting: --set {}=VALUE", key);
  return did_you_mean(flag, flags, fmt::format("; see {}", command_with({command.get_name(), "--help"})));
}

/// The end of an error text for a word that no option took: the option that it seems to be of.
std::string option_for(const std::string& word, const CLI::App& command) {
  const bool is_file = std::filesystem::exists(word);
  const auto has = [&](const char* option) { return command.get_option_no_throw(option) != nullptr; };
  std::string option;
  if (is_file)  // commands that use a run read standard input, or a text of their own
    option = !has("--data") ? "< " : has("run") ? "" : "--data ";
  else
    option = has("--recipe") ? "--recipe " : has("--prompt") ? "--prompt " : "";
  if (option.empty()) return "; see " + command_with({command.get_name(), "--help"});
  return fmt::format("; did you mean {}{}?", option, shell_command({word}));
}

/// Refuses what no option took.
void check_leftovers(const CLI::App& command) {
  const CLI::Option* resume = command.get_option_no_throw("--resume");
  for (const std::string& word : command.remaining()) {
    const std::string flag = word.substr(0, word.find('='));
    check_input(!is_flag(word), "{}: unknown option {}{}", command.get_name(), flag,
                instead_of(flag, command));
    check_input(!resume || resume->count() == 0, "{}: unexpected argument '{}'; the run goes to --out: {}",
                command.get_name(), word, resume_command(word));
    throw InputError(
        fmt::format("{}: unexpected argument '{}'{}", command.get_name(), word, option_for(word, command)));
  }
}

/// CLI11's error text for an option that is given twice, without its value or with none of its choices, in
/// plain words.
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

/// InputError unless the first word is a command, or an option of the program itself.
void check_first_word(const std::string& typed, const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
    for (const std::string& alias : command->get_aliases()) names.push_back(alias);
  }
  const std::vector<std::string> flags = flags_of(app);
  const auto is_among = [&](const std::vector<std::string>& known) {
    return std::find(known.begin(), known.end(), typed) != known.end();
  };
  check_input(!typed.empty(), "no command given; {} --help lists them", this_program());
  const std::string here = is_among(names) ? "" : command_called(typed);
  check_input(here.empty(), "unknown command '{}'; here it is {}", typed, here);
  check_input(is_among(names) || is_flag(typed), "unknown command '{}'{}", typed,
              did_you_mean(typed, names, fmt::format("; {} --help lists them", this_program())));
  check_input(!is_flag(typed) || is_among(flags), "unknown option {}{}", typed, did_you_mean(typed, flags));
}

/// Reads the words and runs their command.
int run_words(const CommandLine& line, const std::vector<Command>& commands) {
  CLI::App& app = line.app;
  if (line.words.size() < 2) {
    std::fputs(app.help().c_str(), stderr);
    return usage;
  }
  const std::string& typed = line.words[1];
  check_first_word(typed, app);
  try {
    std::vector<std::string> words(line.words.rbegin(), line.words.rend() - 1);  // CLI11 takes the last first
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::CallForVersion&) {
    fmt::print("{}\n", app.version());
    return 0;
  } catch (const CLI::ParseError& error) {
    throw InputError(fmt::format("{}: {}", typed, plain_text(error.what())));
  }
  const CLI::App* given = app.get_subcommands().at(0);
  check_leftovers(*given);
  if (typed != given->get_name()) fmt::print(stderr, "lm: {} is called {} here\n", typed, given->get_name());
  return std::find_if(commands.begin(), commands.end(), [&](const Command& it) { return it.app == given; })
      ->run();
}

/// Prints one line about the exception being handled; returns the exit status.
int report_failure() {
  const Failure failure = current_failure();
  std::fflush(stdout);
  std::fprintf(stderr, "%s\n", failure.line.c_str());
  return failure.exit_status;
}

}  // namespace

int run_program(int argc, const char* const* argv, const std::vector<AddCommand*>& commands) {
  prepare_process();
  try {
    CLI::App app(
        "Trains, evaluates and uses recurrent models of language: language models, translators,\n"
        "classifiers, readers, sentence encoders, speech recognisers.\n"
        "A text in, a model out: lm train --recipe char-lstm --data FILE, then lm generate RUN.",
        "lm");
    app.require_subcommand(0, 1);
    app.set_help_flag("-h,--help", "print this help");
    app.set_version_flag("--version", "lm (Rondo) " + version(), "print the version");
    app.footer(
        "lm COMMAND --help and lm help COMMAND have details and an example.\n\n"
        "Exit status: 0 done, 1 failed while running, 2 bad input or usage, 130, 143, 129 or 141 stopped by "
        "Ctrl-C, SIGTERM, SIGHUP or a closed pipe; a training has saved its state.");
    CommandLine line{app, {argv, argv + argc}};
    std::vector<Command> added;
    for (AddCommand* add : commands) added.push_back(add(line));
    wrap_help(app);
    const int status = run_words(line, added);
    if (status == 0) flush_output();  // not after a stop: a closed terminal takes no more lines
    return status;
  } catch (const Stopped& stopped) {
    return stopped.exit_status;
  } catch (const std::system_error& error) {
    return error.code() == std::errc::broken_pipe ? 128 + SIGPIPE
                                                  : report_failure();  // where that is ignored
  } catch (...) {
    return report_failure();
  }
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
    return failure(error.what(), usage);
  } catch (const std::filesystem::filesystem_error& error) {  // what a path names cannot be looked at
    return failure(fmt::format("{}: {}", error.path1().string(), error.code().message()), usage);
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
