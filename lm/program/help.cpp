// The help, wrapped to the terminal: see help.h.
#include "lm/program/help.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "data/text.h"
#include "lm/program/option_list.h"
#include "lm/program/progress.h"

namespace rondo {
namespace {

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
      const std::string word = listed(*option).value;
      const bool is_optional = option->get_description().find("(default: ") != std::string::npos;
      usage += is_optional ? " [" + word + "]" : " " + word;
    }
    return usage + " [OPTIONS]\n";
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const ListedOption it = listed(*option);
    const bool is_choice = !is_positional && !it.choices.empty();
    const std::string value = is_choice ? fmt::format("{}", fmt::join(it.choices, "|")) : it.value;
    const std::string names = is_positional ? "" : fmt::format("{} ", fmt::join(it.names, ", "));
    std::stringstream out;
    const std::string what = is_positional && option->nonpositional()
                                 ? fmt::format("the same as {}", fmt::join(it.names, ", "))
                                 : it.what;
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

void wrap_help(CLI::App& app, int width) {
  const auto formatter = std::make_shared<WrappingFormatter>(width);
  app.formatter(formatter);
  for (CLI::App* command : app.get_subcommands({})) command->formatter(formatter);
}

}  // namespace rondo
