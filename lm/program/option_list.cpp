// The commands and options of the parser as data: see option_list.h.
#include "lm/program/option_list.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace rondo {
namespace {

/// CLI11 writes choices behind the type: "NAME:{cpu,cuda}".
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return choices;
  std::istringstream in(type.substr(begin + 1, end - begin - 1));
  for (std::string choice; std::getline(in, choice, ',');) choices.push_back(choice);
  return choices;
}

ValueKind kind_of(const std::string& name, const std::string& value) {
  const auto has = [&](const char* word) { return value.find(word) != std::string::npos; };
  if (name == "--recipe") return ValueKind::recipe;
  if (has("KEY=VALUE")) return ValueKind::setting;
  if (has("FILE") || has("DIR") || has("REFERENCE")) return ValueKind::file;  // which lies in a folder
  if (has("RUN") || has("FOLDER")) return ValueKind::folder;
  return ValueKind::other;
}

/// What stands for the value in a usage line.
std::string value_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::string value = type.substr(0, type.find(':'));
  const bool takes_several = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  return takes_several && !value.ends_with("...") ? value + "..." : value;
}

}  // namespace

std::string explained(const CLI::Option& option) {
  std::vector<std::string> notes, excluded;
  if (!option.get_default_str().empty()) notes.push_back("default: " + option.get_default_str());
  for (const CLI::Option* other : option.get_excludes()) excluded.push_back(other->get_name());
  std::sort(excluded.begin(), excluded.end());  // CLI11 sorts them by their addresses
  if (!excluded.empty()) notes.push_back(fmt::format("not with {}", fmt::join(excluded, ", ")));
  std::string what = option.get_description();
  if (notes.empty()) return what;
  const std::size_t last = what.rfind(" (default: ");
  if (last == std::string::npos || !what.ends_with(')'))
    return fmt::format("{} ({})", what, fmt::join(notes, "; "));
  what.pop_back();
  return fmt::format("{}; {})", what, fmt::join(notes, "; "));
}

ListedOption listed(const CLI::Option& option) {
  ListedOption it;
  for (const std::string& name : option.get_snames()) it.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) it.names.push_back("--" + name);
  it.what = explained(option);
  it.positional = option.get_positional();
  it.repeats = option.get_items_expected_max() > 1 ||
               option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  if (option.get_items_expected_max() == 0) return it;
  it.choices = choices_in(option.get_type_name());
  it.value = value_of(option);
  it.kind =
      it.choices.empty() ? kind_of(it.names.empty() ? "" : it.names.back(), it.value) : ValueKind::choice;
  return it;
}

std::vector<ListedOption> options_of(const CLI::App& command) {
  std::vector<ListedOption> options;
  for (const bool positional : {true, false})
    for (const CLI::Option* option : command.get_options())
      if (option->get_positional() == positional) options.push_back(listed(*option));
  return options;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

}  // namespace rondo
