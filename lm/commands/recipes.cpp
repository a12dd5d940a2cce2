// `lm recipes`: the built-in recipes, with their papers and published figures.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lm/commands/options.h"
#include "lm/program/cli.h"
#include "lm/program/recipe.h"
#include "lm/program/terminal.h"

namespace rondo {
namespace {

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
int list_recipes(bool json) {
  std::vector<Recipe> recipes;
  for (const auto& [name, text] : built_in_recipes()) recipes.push_back(load_recipe(std::string(name)));
  if (json)
    print_json(json_of(recipes));
  else
    print_text(recipes);
  return 0;
}

}  // namespace

Command add_recipes(CommandLine& line) {
  const auto json = std::make_shared<bool>(false);
  CLI::App& app =
      add_command(line, "recipes", "list the recipes that come with the program", "lm recipes --json");
  app.add_flag("--json", *json, "print one JSON object");
  return {&app, [json] { return list_recipes(*json); }};
}

}  // namespace rondo
