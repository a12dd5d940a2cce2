// `lm recipes`: the built-in recipes, with their papers and published figures.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lm/commands/options.h"
#include "lm/program/cli.h"
#include "lm/program/recipe.h"
#include "lm/program/terminal.h"

namespace rondo {
namespace {

struct RecipesOptions {
  std::string pattern{};  // of a shell; part of a name, a description or a paper; empty: all recipes
  bool json = false;
};

nlohmann::ordered_json json_of(const std::vector<Recipe>& recipes) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Recipe& it : recipes)
    list.push_back({{"name", it.name},
                    {"task", it.task_name},
                    {"unit", name_of(it.task->tokenization().unit)},
                    {"description", it.description},
                    {"paper", it.paper},
                    {"published", published_json(it.published)}});
  return {{"recipes", list}};
}

void print_text(const std::vector<Recipe>& recipes) {
  std::size_t width = 0;
  for (const Recipe& it : recipes) width = std::max(width, it.name.size());
  for (const Recipe& it : recipes) {
    fmt::print("{:<{}} {}\n", it.name, width, it.description);
    if (!it.paper.empty()) fmt::print("{:<{}} {}\n", "", width, it.paper);
    if (const std::string published = published_text(it.published); !published.empty())
      fmt::print("{:<{}} published {}\n", "", width, published);
  }
}

/// Prints name, description, paper and published figures on stdout. Returns 0.
int list_recipes(const RecipesOptions& options) {
  std::vector<Recipe> recipes;
  for (const auto& [name, text] : built_in_recipes()) {
    Recipe recipe = load_recipe(std::string(name));
    const auto has_it = [&](const std::string& in) {
      return fnmatch(("*" + options.pattern + "*").c_str(), in.c_str(), FNM_CASEFOLD) == 0;
    };
    if (has_it(recipe.name) || has_it(recipe.description) || has_it(recipe.paper))
      recipes.push_back(std::move(recipe));
  }
  check_input(!recipes.empty(),
              "no recipe has '{}' in its name, its description or its paper; `{} recipes` lists them all",
              options.pattern, this_program());
  if (options.json)
    print_json(json_of(recipes));
  else
    print_text(recipes);
  return 0;
}

}  // namespace

Command add_recipes(CommandLine& line) {
  const auto options = std::make_shared<RecipesOptions>();
  CLI::App& app =
      add_command(line, "recipes", "list the recipes that come with the program", "lm recipes ptb");
  add_text(app, "pattern", options->pattern, "PATTERN",
           "those that have this in their name, description or paper, in any case; * is any text (default: "
           "all)");
  app.add_flag("--json", options->json, "print one JSON object");
  return {&app, [options] { return list_recipes(*options); }};
}

}  // namespace rondo
