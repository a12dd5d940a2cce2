// The recipes of papers hold what is printed there: printed_settings.txt. Their parameters:
// tests/lm/program/recipe_parameters_test.cpp.
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "lm/program/recipe.h"
#include "tests/temporary_folder.h"

namespace rondo {
namespace {

struct Printed {
  std::map<std::string, std::string> values;  // by key
  bool is_whole = false;                      // other keys have their defaults
};

/// The built-in recipes that patterns stand for.
std::set<std::string> recipes_of(const std::string& patterns) {
  std::set<std::string> names;
  std::istringstream words(patterns);
  for (std::string pattern; words >> pattern;) {
    const std::size_t before = names.size();
    for (const auto& [name, text] : built_in_recipes())
      if (fnmatch(pattern.c_str(), std::string(name).c_str(), 0) == 0) names.emplace(name);
    EXPECT_GT(names.size(), before) << pattern;
  }
  return names;
}

std::map<std::string, Printed> printed_settings() {
  std::map<std::string, Printed> printed;
  std::istringstream lines(bytes_of_file(RONDO_SOURCE_DIR "/tests/lm/program/printed_settings.txt"));
  std::set<std::string> names;
  const std::string whole = "whole:";
  for (std::string line; std::getline(lines, line);) {
    line.erase(std::min(line.find(" #"), line.size()));
    line.erase(line.find_last_not_of(' ') + 1);
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with(whole)) {
      for (const std::string& name : recipes_of(line.substr(whole.size()))) printed[name].is_whole = true;
    } else if (line.ends_with(':')) {
      names = recipes_of(line.substr(0, line.size() - 1));
    } else {
      const std::size_t equals = line.find(" = ");
      for (const std::string& name : names)
        printed[name].values[line.substr(2, equals - 2)] = line.substr(equals + 3);
    }
  }
  return printed;
}

TEST(PaperRecipes, HaveWhatIsPrinted) {
  const auto all = printed_settings();
  EXPECT_GT(all.size(), 40u);
  for (const auto& [name, printed] : all) {
    SCOPED_TRACE(name);
    Recipe recipe = load_recipe(name), expected = printed.is_whole ? Recipe() : recipe;
    const std::vector<Key> keys = keys_of(recipe), expected_keys = keys_of(expected);
    for (const auto& [key, value] : printed.values) apply_setting({key, key, value}, expected_keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].name.starts_with("recipe.")) continue;  // the name, and where it is from
      EXPECT_EQ(value_text(keys[i]), value_text(expected_keys[i])) << keys[i].name;
    }
  }
}

// docs/results.md compares these models, so nothing else may differ.
TEST(PaperRecipes, DeepTransitionsAreTrainedAlike) {
  const std::set<std::string> what_is_compared = {"model.cell", "model.transition", "model.output_layers"};
  Recipe shallow = load_recipe("rnn-ptb");
  const std::vector<Key> expected = keys_of(shallow);
  for (const char* name : {"do-rnn-ptb", "dt-rnn-ptb", "dts-rnn-ptb", "dot-rnn-ptb", "dots-rnn-ptb"}) {
    SCOPED_TRACE(name);
    Recipe deep = load_recipe(name);
    const std::vector<Key> keys = keys_of(deep);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].name.starts_with("recipe.") || what_is_compared.contains(keys[i].name)) continue;
      EXPECT_EQ(value_text(keys[i]), value_text(expected[i])) << keys[i].name;
    }
  }
}

// Section 5 of Luchetta 2020 has a pair of layers.
TEST(PaperRecipes, LuchettaHasTwoOutputLayers) {
  EXPECT_EQ(load_recipe("luchetta-lstm-fc").language_model().model.output_layers.size(), 2u);
}

// Section 5.1 of Maupome & Meurs counts 5.1M, 400K and 450K characters, with the spaces at both ends of the
// lines.
TEST(PaperRecipes, MaupomeOnTheRawPennTreebank) {
  Recipe raw = load_recipe("maupome-ptb-mgru-raw"), stripped = load_recipe("maupome-ptb-mgru");
  EXPECT_FALSE(raw.language_model().data.tokenization.strip_lines);
  EXPECT_TRUE(stripped.language_model().data.tokenization.strip_lines);
  stripped.language_model().data.tokenization.strip_lines = false;
  stripped.name = raw.name, stripped.description = raw.description;
  EXPECT_EQ(write_toml(keys_of(raw)), write_toml(keys_of(stripped))) << "else the same";
}

}  // namespace
}  // namespace rondo
