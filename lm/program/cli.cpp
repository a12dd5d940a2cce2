// The command line, built on CLI11: see cli.h.
#include "lm/program/cli.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <new>
#include <system_error>

#include "data/text/text.h"
#include "lm/program/recipe.h"
#include "lm/program/run.h"
#include "lm/program/terminal.h"
#include "lm/tasks/text_options.h"
#include "tensor/error.h"

namespace rondo {

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
  check_input(std::ranges::find(known, typed) != known.end(), "unknown command '{}'{}", typed,
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
    std::ranges::reverse(words);  // CLI11 takes the last first
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    return 0;
  } catch (const CLI::CallForVersion&) {
    fmt::print("{}\n", app.version());
    return 0;
  } catch (const CLI::ParseError& error) {
    for (const CLI::App* given : app.get_subcommands())
      check_leftovers(*given);  // a typing error comes first
    throw InputError(fmt::format("{}: {}", typed, error.what()));
  }
  const CLI::App* given = app.get_subcommands().at(0);
  check_leftovers(*given);
  return std::ranges::find(commands, given, &Command::app)->run();
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
    std::ranges::replace(line, '\n', ' ');
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
