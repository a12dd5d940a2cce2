// The help, wrapped to the terminal: see help.h.
#include "lm/program/help.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "data/text.h"
#include "lm/program/progress.h"

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

/// The word that a usage line shows in place of the value.
std::string value_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::string value = type.substr(0, type.find(':'));
  const bool takes_several = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  return takes_several && !value.ends_with("...") ? value + "..." : value;
}

/// An option's description, with its default and the options that it cannot stand beside.
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

/// "-n, --prompt"; of a pure positional argument nothing.
std::string names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return fmt::format("{}", fmt::join(names, ", "));
}

class WrappingFormatter : public CLI::Formatter {
 public:
  explicit WrappingFormatter(int width) : width_(width) {
    constexpr std::size_t names = 28;  // columns
    column_width(names);
    label("Positionals", "Arguments");
  }

  /// "lm score RUN [FILE...] [OPTIONS]": what may be left out has a default, which its description says.
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = "Usage: " + name + (app->get_subcommands({}).empty() ? "" : " COMMAND");
    for (const CLI::Option* option : app->get_options({})) {
      if (!option->get_positional()) continue;
      const std::string word = value_of(*option);
      const bool is_optional = option->get_description().find("(default: ") != std::string::npos;
      usage += is_optional ? " [" + word + "]" : " " + word;
    }
    return usage + " [OPTIONS]\n";
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::vector<std::string> choices = choices_in(option->get_type_name());
    const bool is_flag = option->get_items_expected_max() == 0,
               is_choice = !is_positional && !choices.empty();
    const std::string value = is_flag     ? ""
                              : is_choice ? fmt::format("{}", fmt::join(choices, "|"))
                                          : value_of(*option);
    const std::string names = is_positional ? "" : names_of(*option) + " ";
    const bool has_name = is_positional && option->nonpositional();
    const std::string what = has_name ? "the same as " + names_of(*option) : explained(*option);
    std::stringstream out;
    CLI::detail::format_help(out, names + value, beside_names(what), get_column_width());
    return out.str();
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::stringstream out;
    CLI::detail::format_help(out, command->get_name(), beside_names(command->get_description()),
                             get_column_width());
    return out.str();
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), width_) + "\n";
  }
  std::string make_footer(const CLI::App* app) const override {
    const std::string footer = app->get_footer();
    return wrapped(footer.substr(std::min(footer.find_first_not_of('\n'), footer.size())), width_) + "\n";
  }

 private:
  std::string beside_names(const std::string& text) const {
    constexpr int narrowest = 30;
    return wrapped(text, std::max(narrowest, width_ - static_cast<int>(get_column_width())));
  }

  int width_;
};

}  // namespace

std::string wrapped(const std::string& text, int width) {
  std::string all, paragraph;
  const auto end_paragraph = [&] {
    int column = 0;
    std::string word;
    const auto end_word = [&] {
      if (word.empty()) return;
      const int length = columns_of(word);
      const bool fits = column + 1 + length <= width;
      if (column > 0) all += fits ? ' ' : '\n';
      column = (column > 0 && fits ? column + 1 : 0) + length;
      all += word;
      word.clear();
    };
    for (const char letter : paragraph) {
      if (letter == ' ')
        end_word();
      else
        word += letter;
    }
    end_word();
    if (!paragraph.empty()) all += '\n';
    paragraph.clear();
  };
  for (const std::string_view line : split_lines(text)) {
    if (!line.empty() && line.front() != ' ') {
      if (!paragraph.empty()) paragraph += ' ';
      paragraph += line;
      continue;
    }
    end_paragraph();
    all += std::string(line) + '\n';
  }
  end_paragraph();
  if (!all.empty()) all.pop_back();  // the last newline
  return all;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

void wrap_help(CLI::App& app, int width) {
  const auto formatter = std::make_shared<WrappingFormatter>(width);
  app.formatter(formatter);
  for (CLI::App* command : app.get_subcommands({})) command->formatter(formatter);
}

}  // namespace rondo
