// Completion of shells: see completion.h. Both scripts are lists: what is asked for by position, else by the
// option before the word.
#include "lm/program/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lm/program/option_list.h"
#include "lm/program/recipes.h"

namespace rondo {
namespace {

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> names_of_recipes() {
  std::vector<std::string> names;
  for (const BuiltInRecipe& recipe : built_in_recipes()) names.emplace_back(recipe.name);
  return names;
}

std::vector<std::string> names_of_settings() {
  Recipe recipe;
  std::vector<std::string> names;
  for (const Key& key : keys_of(recipe)) names.push_back(key.name + "=");
  return names;
}

/// In single quotes, for both shells.
std::string quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

// ---- bash.

/// The line that completes a value: the words, and what else.
std::string bash_value(const ListedOption& option) {
  switch (option.kind) {
    case ValueKind::choice:
      return fmt::format("words={}", quoted(fmt::format("{}", fmt::join(option.choices, " "))));
    case ValueKind::recipe:
      return "words=$recipes files=-f";
    case ValueKind::setting:
      return "words=$settings space=no";
    case ValueKind::folder:
      return "files=-d";
    case ValueKind::file:
      return "files=-f";
    default:
      return ":";
  }
}

std::string bash_script(const CLI::App& app) {
  const std::vector<std::string> commands = names_of_commands(app);
  std::string by_option, by_command;
  for (const CLI::App* command : commands_of(app)) {
    std::vector<std::string> names;
    std::string positional;
    for (const ListedOption& option : options_of(*command)) {
      if (option.positional && positional.empty()) positional = bash_value(option);
      if (option.names.empty()) continue;
      names.insert(names.end(), option.names.begin(), option.names.end());
      if (option.kind == ValueKind::none) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names)
        patterns.push_back(quoted(command->get_name() + " " + name));
      by_option += fmt::format("    {}) {};;\n", fmt::join(patterns, "|"), bash_value(option));
    }
    by_command +=
        fmt::format("      {}) options={} ; {};;\n", command->get_name(),
                    quoted(fmt::format("{}", fmt::join(names, " "))), positional.empty() ? ":" : positional);
  }
  return fmt::format(
      R"(# Completion of lm for bash, made by `lm completion bash`. To use it: source <(lm completion bash)
# shellcheck shell=bash disable=SC2207,SC2086
_lm() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}
  local words='' files='' options='' space=yes
  local commands={}
  local recipes={}
  local settings={}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "$commands --help --version" -- "$word"))
    return
  fi
  case "$command $before" in
    help\ *) words=$commands;;
{}    *) case "$command" in
{}      esac
      case "$word" in -*) words=$options files='';; esac;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen "$files" -- "$word"))
  fi
  if [ "$space" = no ]; then compopt -o nospace 2>/dev/null; fi
}}
complete -F _lm lm
)",
      quoted(fmt::format("{}", fmt::join(commands, " "))),
      quoted(fmt::format("{}", fmt::join(names_of_recipes(), " "))),
      quoted(fmt::format("{}", fmt::join(names_of_settings(), " "))), by_option, by_command);
}

// ---- zsh.

/// A text within a specification of _arguments or _describe.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string zsh_value(const ListedOption& option) {
  const std::string name = zsh_text(option.value);
  switch (option.kind) {
    case ValueKind::none:
      return "";
    case ValueKind::choice:
      return fmt::format(":{}:({})", name, fmt::join(option.choices, " "));
    case ValueKind::recipe:
      return fmt::format(":{}:_lm_recipes", name);
    case ValueKind::setting:
      return fmt::format(":{}:_lm_settings", name);
    case ValueKind::folder:
      return fmt::format(":{}:_files -/", name);
    case ValueKind::file:
      return fmt::format(":{}:_files", name);
    case ValueKind::other:
      break;
  }
  return fmt::format(":{}: ", name);
}

std::string zsh_script(const CLI::App& app) {
  std::string described, by_command;
  for (const CLI::App* command : commands_of(app)) {
    described += fmt::format(
        "    {}\n", quoted(fmt::format("{}:{}", command->get_name(), zsh_text(command->get_description()))));
    by_command += fmt::format("    {}) _arguments", command->get_name());
    for (const ListedOption& option : options_of(*command)) {
      if (option.positional)
        by_command += fmt::format(" \\\n      {}", quoted((option.repeats ? "*" : "") + zsh_value(option)));
      for (const std::string& name : option.names)
        by_command +=
            fmt::format(" \\\n      {}", quoted(fmt::format("{}{}[{}]{}", option.repeats ? "*" : "", name,
                                                            zsh_text(option.what), zsh_value(option))));
    }
    by_command += ";;\n";
  }
  return fmt::format(
      R"(#compdef lm
# Completion of lm for zsh, made by `lm completion zsh`. To use it: source <(lm completion zsh)
_lm_recipes() {{ compadd -- {}; _files }}
_lm_settings() {{ compadd -S '' -- {} }}
_lm() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case ${{words[1]}} in
{}  esac
}}
if [ "$funcstack[1]" = _lm ]; then _lm "$@"; else compdef _lm lm; fi
)",
      fmt::join(names_of_recipes(), " "), fmt::join(names_of_settings(), " "), described, by_command);
}

}  // namespace

std::string completion_script(const CLI::App& app, Shell shell) {
  return shell == Shell::bash ? bash_script(app) : zsh_script(app);
}

}  // namespace rondo
