// The manual page: see manual.h. Its macros are those of man(7), which every `man` knows.
#include "lm/program/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/text.h"
#include "lm/program/option_list.h"
#include "lm/program/version.h"

namespace rondo {
namespace {

/// A text of the help for roff: a hyphen is a minus, and no line begins with a control character.
std::string escaped(const std::string& text) {
  std::string roff;
  for (const char letter : text) {
    if ((letter == '.' || letter == '\'') && (roff.empty() || roff.back() == '\n')) roff += "\\&";
    if (letter == '-') roff += '\\';
    roff += letter == '\\' ? std::string("\\e") : std::string(1, letter);
  }
  return roff;
}

/// Paragraphs; what begins with a space stays as it is.
std::string paragraphs(const std::string& text) {
  std::string roff;
  bool literal = false;
  for (const std::string_view line : split_lines(text)) {
    const bool is_literal = line.starts_with(' ');
    if (is_literal != literal) roff += is_literal ? ".RS 4\n.nf\n" : ".fi\n.RE\n";
    literal = is_literal;
    if (line.empty() && !literal) {
      roff += ".PP\n";
      continue;
    }
    roff += escaped(std::string(is_literal ? stripped(line) : line)) + '\n';
  }
  return literal ? roff + ".fi\n.RE\n" : roff;
}

std::string option_entry(const ListedOption& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escaped(name));
  if (!option.value.empty())
    names += fmt::format("{}\\fI{}\\fR", names.empty() ? "" : " ", escaped(option.value));
  const std::string choices =
      option.choices.empty() ? "" : fmt::format("\nOne of: {}.", fmt::join(option.choices, ", "));
  return fmt::format(".TP\n{}\n{}{}\n", names, escaped(option.what), escaped(choices));
}

std::string command_entry(const CLI::App& command) {
  std::string roff =
      fmt::format(".SS lm {}\n{}\n", command.get_name(), escaped(command.get_description() + "."));
  for (const ListedOption& option : options_of(command)) roff += option_entry(option);
  return roff + ".PP\n" + paragraphs(command.get_footer());
}

}  // namespace

std::string manual_page(const CLI::App& app) {
  std::string roff = fmt::format(
      ".TH LM 1 \"\" \"Rondo {}\" \"User Commands\"\n"
      ".SH NAME\nlm \\- recurrent models of language: train, measure, generate, translate\n"
      ".SH SYNOPSIS\n.B lm\n.I COMMAND\n.RI [ OPTIONS ]\n"
      ".SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      version(), paragraphs(app.get_description()));
  for (const CLI::App* command : commands_of(app)) roff += command_entry(*command);
  return roff + ".SH NOTES\n" + paragraphs(app.get_footer());
}

}  // namespace rondo
