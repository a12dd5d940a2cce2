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
#include <limits>
#include <new>
#include <system_error>

#include "data/text/text.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/tasks/text_options.h"
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
    const std::string_view typed = without_dashes(has_section ? last_part(name) : name);
    const std::string_view other = without_dashes(has_section ? last_part(candidate) : candidate);
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

namespace {

/// What other programs call a setting, an option, a command or a value of this one.
struct OtherName {
  std::string_view other, here;
};
constexpr OtherName other_names[] = {
    {"lr", "train.learning_rate"},
    {"max_length", "decoding.max_length"},
    {"n_best", "decoding.n_best"},
    {"length_penalty", "decoding.length_penalty"},
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
    {"gpu", "--device cuda"},
    {"cuda", "--device cuda"},
    {"fp16", "--precision bf16"},
    {"save", "--out"},
    {"output", "--out"},
    {"model", "--recipe"},
    {"max_epochs", "--epochs"},
    {"max_steps", "--steps"},
    {"beam_size", "--beam"},
    {"batch_size", "--streams"},
    {"max_tokens", "-n"},
    {"ppl", "--totals"},
    {"evaluate", "eval"},
    {"test", "eval"},
    {"perplexity", "eval"},
    {"resume", "train --out RUN --resume"},
    {"sample", "generate"},
    {"convert", "export"},
    {"list", "table"},
    {"version", "--version"},
    {"ppl", "perplexity"},
    {"chars", "characters"},
};

/// The name here for another program's, such as "--batch-size" or "train.lr", if it is known; else empty.
std::string name_here(std::string_view name, const std::vector<std::string>& known) {
  std::string word(name.substr(name.find_last_of('.') + 1));
  const std::string_view section = name.substr(0, name.size() - word.size());
  word.erase(0, word.find_first_not_of('-'));
  std::replace(word.begin(), word.end(), '-', '_');
  for (const auto& [other, here] : other_names) {
    const std::string_view first = here.substr(0, here.find(' '));
    if (other == word && here.starts_with(section) &&
        std::find(known.begin(), known.end(), first) != known.end())
      return std::string(here);
  }
  return "";
}

}  // namespace

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known,
                         const std::string& otherwise) {
  if (const std::string here = name_here(name, known); !here.empty())
    return fmt::format("; here it is '{}'", here);
  const std::string near = nearest(name, known);
  return near.empty() ? otherwise : fmt::format("; did you mean '{}'?", near);
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  return did_you_mean(name, known, fmt::format("; known: {}", fmt::join(known, ", ")));
}

// --- Commands for a shell ---

std::string shell_command(const std::vector<std::string>& words) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=,:@%+";
  const auto is_plain = [&](char letter) { return plain.find(letter) != plain.npos; };
  std::string command;
  for (const std::string& word : words) {
    if (&word != words.data()) command += ' ';
    const bool is_shown = printable(word) == word;  // else as $'\377', which POSIX has since 2024
    const bool is_quoted = word.empty() || !std::all_of(word.begin(), word.end(), is_plain);
    if (is_quoted) command += is_shown ? "'" : "$'";
    for (const char letter : word)
      if (is_shown ? letter != '\'' : is_plain(letter))
        command += letter;
      else
        command += is_shown ? "'\\''" : fmt::format("\\{:03o}", static_cast<unsigned char>(letter));
    if (is_quoted) command += '\'';
  }
  return command;
}

std::string this_program() { return shell_command({program_invocation_name}); }

std::string command_with(const std::vector<std::string>& words) {
  return this_program() + " " + shell_command(words);
}

std::string resume_command(const std::filesystem::path& folder) {
  return command_with({"train", "--out", folder.string(), "--resume"});
}

// --- Command line ---

namespace {

constexpr int usage = 2;  // the exit status

/// A read of mapped ids whose file was cut prints this line. It is made before: a handler of signals can
/// neither allocate nor throw.
std::string line_about_lost_ids;

/// If a standard stream is closed, the first opened file must not take its place, and reading from it must be
/// an error; an exceeded file-size limit must be an error, not a signal that kills; and a cut file of ids
/// must not kill without a word.
void prepare_process() {
  for (int stream = 0; stream <= 2; ++stream)
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_WRONLY);
  std::signal(SIGXFSZ, SIG_IGN);
  line_about_lost_ids = fmt::format(
      "lm: a file of ids in {} was cut while it was read, or a disk is full or fails: give the command again "
      "(of a training with --resume)\n",
      printable(ids_folder().string()));
  std::signal(SIGBUS, [](int) {
    [[maybe_unused]] const auto written =
        write(STDERR_FILENO, line_about_lost_ids.data(), line_about_lost_ids.size());
    _exit(1);
  });
}

/// Breaks the lines of the help, which CLI11 leaves as they are.
void wrap_help(CLI::App& app) {
  constexpr int width = 80, names = 28, beside_names = width - names;  // columns
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

/// The end of an error text for an unknown option: the option, or the setting, that may be meant.
std::string instead_of(const std::string& flag, const CLI::App& command) {
  const std::string option = did_you_mean(flag, flags_of(command), "");
  if (!option.empty()) return option;
  std::vector<std::string> settings;
  Recipe recipe;
  if (command.get_option_no_throw("--set"))
    for (const Key& key : keys_of(recipe)) settings.push_back(key.name);
  const std::string setting = did_you_mean(flag, settings, "");
  return setting.empty() ? fmt::format("; see {}", command_with({command.get_name(), "--help"}))
                         : setting + " (with --set)";
}

/// Refuses what no option took.
void check_leftovers(const CLI::App& command) {
  for (const std::string& word : command.remaining()) {
    const std::string flag = word.substr(0, word.find('='));
    check_input(!is_flag(word), "{}: unknown option {}{}", command.get_name(), flag,
                instead_of(flag, command));
    throw InputError(fmt::format("{}: unexpected argument '{}'; see {}", command.get_name(), word,
                                 command_with({command.get_name(), "--help"})));
  }
}

/// Throws InputError unless the first word is a command, or an option of the program itself.
void check_first_word(const std::string& typed, const CLI::App& app) {
  std::vector<std::string> known = flags_of(app);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(command->get_name());
  check_input(std::find(known.begin(), known.end(), typed) != known.end(), "unknown command '{}'{}", typed,
              did_you_mean(typed, known, fmt::format("; {} --help lists them", this_program())));
}

/// Reads the words and runs their command.
int run_words(const CommandLine& line, const std::vector<Command>& commands) {
  CLI::App& app = line.app;
  std::vector<std::string> words(line.words.begin() + 1, line.words.end());
  if (words.empty()) {
    std::fputs(app.help().c_str(), stderr);
    return usage;
  }
  if (words.front() == "help") {  // as `lm COMMAND --help`
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  const std::string typed = words.front();
  check_first_word(typed, app);
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes the last first
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::CallForVersion&) {
    fmt::print("{}\n", app.version());
    return 0;
  } catch (const CLI::ParseError& error) {
    throw InputError(fmt::format("{}: {}", typed, error.what()));
  }
  const CLI::App* given = app.get_subcommands().at(0);
  check_leftovers(*given);
  return std::find_if(commands.begin(), commands.end(), [&](const Command& it) { return it.app == given; })
      ->run();
}

}  // namespace

int report_failure() {
  const Failure failure = current_failure();
  std::fflush(stdout);
  print_note(failure.text);
  return failure.exit_status;
}

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
    return Failure{printable(line), exit_status};
  };
  try {
    throw;
  } catch (const InputError& error) {
    return failure(error.what(), usage);
  } catch (const std::filesystem::filesystem_error& error) {  // what a path names cannot be looked at
    return failure(fmt::format("{}: {}", error.path1().string(), error.code().message()), usage);
  } catch (const std::bad_alloc&) {
    return failure("not enough memory", 1);
  } catch (const std::exception& error) {
    return failure(error.what(), 1);
  } catch (...) {
    return failure("an unknown failure", 1);
  }
}

}  // namespace rondo
